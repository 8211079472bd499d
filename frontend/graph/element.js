/* The graph view's way to make an element of the page. */

/**
 * @template {string} Name
 * @param {Name} name
 * @param {string} className
 * @param {Node & ParentNode} parent
 * @returns {ElementNamed<Name>}
 */
export function element(name, className, parent) {
  const made = document.createElement(name);
  made.className = className;
  parent.append(made);
  return /** @type {any} */ (made);
}
