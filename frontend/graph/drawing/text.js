/* The graph view's text: its fonts, how wide a text is, and how it is cut to a width. */

const SANS = 'ui-sans-serif, system-ui, -apple-system, "Segoe UI", Roboto, "Helvetica Neue", Arial, sans-serif';
const MONO = 'ui-monospace, SFMono-Regular, Menlo, Consolas, "DejaVu Sans Mono", monospace';

export const FONTS = {
  title: `600 13px ${SANS}`,
  caption: `12px ${SANS}`,
  detail: `11px ${MONO}`,
  chip: `10.5px ${SANS}`,
  header: `600 12px ${SANS}`,
  count: `11px ${SANS}`,
  sign: `700 12px ${SANS}`,
  mark: `700 8px ${SANS}`,
};
/** @type {Map<string, Map<string, number>>} */
const widths = new Map();
/** @type {CanvasRenderingContext2D | null} */
let ruler = null;

/**
 * Width of a text, as the sum of its letters: measured once per letter and font, not once per node.
 * @param {string} font
 * @param {string} text
 */
export function textWidth(font, text) {
  if (!widths.has(font)) widths.set(font, new Map());
  const letters = /** @type {Map<string, number>} */ (widths.get(font));
  let sum = 0;
  for (const letter of text) {
    let width = letters.get(letter);
    if (width === undefined) {
      ruler ??= /** @type {CanvasRenderingContext2D} */ (document.createElement("canvas").getContext("2d"));
      ruler.font = font;
      width = ruler.measureText(letter).width;
      letters.set(letter, width);
    }
    sum += width;
  }
  return sum;
}

/**
 * A text cut to a width, drawn `scale` times as large as its font says; empty where not even a letter fits.
 * @param {string} font
 * @param {string} text
 * @param {number} width
 */
export function shorten(font, text, width, scale = 1) {
  if (textWidth(font, text) * scale <= width) return text;
  let cut = text;
  while (cut && textWidth(font, `${cut}\u2026`) * scale > width) cut = cut.slice(0, cut.length > 40 ? -8 : -1);
  return cut ? `${cut}\u2026` : "";
}

/**
 * A font in another size.
 * @param {string} font
 * @param {number} px
 */
export function sized(font, px) {
  return font.replace(/[\d.]+px/, `${px.toFixed(1)}px`);
}
