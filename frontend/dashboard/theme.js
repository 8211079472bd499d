/* Light or dark: the system's, until the user chooses. */

const KEY = "freezer-theme";

export class Theme {
  /**
   * @param {HTMLElement} root gets `data-scheme`; `onchange` is called after each change but the first
   * @param {(...given: any[]) => unknown} onchange
   */
  constructor(root, onchange) {
    this.root = root;
    this.system = matchMedia("(prefers-color-scheme: dark)");
    const known = localStorage.getItem(KEY);
    this.choice = known === "light" || known === "dark" ? known : "auto";
    this.paint();
    this.onchange = onchange;
    this.follow = () => this.paint();
    this.system.addEventListener("change", this.follow);
  }

  get shown() {
    return this.choice === "auto" ? (this.system.matches ? "dark" : "light") : this.choice;
  }

  /** @param {any} choice */
  choose(choice) {
    if (choice === this.choice) return;
    this.choice = choice;
    localStorage.setItem(KEY, choice);
    this.paint();
    this.onchange();
  }

  flip() {
    this.choose(this.shown === "dark" ? "light" : "dark");
  }

  paint() {
    this.root.dataset.scheme = this.shown;
  }

  destroy() {
    this.system.removeEventListener("change", this.follow);
  }
}
