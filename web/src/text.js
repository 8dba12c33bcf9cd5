// Text that others wrote, made harmless and readable: Preact escapes it, and here what would still
// deceive the eye is made visible.

/** Controls, marks that change the direction of text, and marks that nobody sees. */
// eslint-disable-next-line no-control-regex
const HIDDEN = /[\u0000-\u0008\u000b-\u001f\u007f-\u009f\u061c\u200b\u200e\u200f\u2028-\u202e\u2060-\u206f\ufeff\ufff9-\ufffb]/g;

/** @param {string} char */
function picture(char) {
  const code = char.charCodeAt(0);
  if (code < 0x20) return String.fromCharCode(0x2400 + code);
  return `‹U+${code.toString(16).toUpperCase().padStart(4, '0')}›`;
}

/**
 * The text with what hides in it made visible.
 * @param {unknown} text
 */
export function shown(text) {
  return String(text ?? '').replace(HIDDEN, picture);
}

/**
 * The same, cut to a length.
 * @param {unknown} text
 * @param {number} length
 */
export function shortened(text, length) {
  const whole = String(text ?? '');
  return shown(whole.length > length ? whole.slice(0, length - 1) + '…' : whole);
}

/** @typedef {{ text: string, style: string }} Piece */

// A sequence that sets colours, or any other that a terminal would obey.
// eslint-disable-next-line no-control-regex
const SEQUENCE = /\u001b(?:\[([0-9;:]*)m|\[[0-?]*[ -/]*[@-~]|\][^\u0007\u001b]*(?:\u0007|\u001b\\)?|[@-Z\\-_]|[ -/][0-~])/g;

const COLOURS = ['black', 'red', 'green', 'yellow', 'blue', 'magenta', 'cyan', 'white'];

/**
 * A line of a terminal as pieces with classes: colours and weight are shown, all else is left out.
 * @param {string} line
 * @returns {Piece[]}
 */
export function terminalPieces(line) {
  if (!line.includes('\u001b')) return [{ text: shown(line), style: '' }];
  /** @type {Piece[]} */
  const pieces = [];
  const pen = { colour: '', bold: false, faint: false, italic: false, under: false };
  let from = 0;
  const put = (/** @type {number} */ to) => {
    if (to > from) pieces.push({ text: shown(line.slice(from, to)), style: styleOf(pen) });
  };
  for (const found of line.matchAll(SEQUENCE)) {
    put(found.index);
    from = found.index + found[0].length;
    if (found[1] !== undefined) dip(pen, found[1]);
  }
  put(line.length);
  return pieces;
}

/** @param {{ colour: string, bold: boolean, faint: boolean, italic: boolean, under: boolean }} pen */
function styleOf(pen) {
  const parts = [];
  if (pen.colour) parts.push(`ansi-${pen.colour}`);
  if (pen.bold) parts.push('ansi-bold');
  if (pen.faint) parts.push('ansi-faint');
  if (pen.italic) parts.push('ansi-italic');
  if (pen.under) parts.push('ansi-under');
  return parts.join(' ');
}

/**
 * @param {{ colour: string, bold: boolean, faint: boolean, italic: boolean, under: boolean }} pen
 * @param {string} codes
 */
function dip(pen, codes) {
  const numbers = codes.split(/[;:]/).map(Number);
  for (let i = 0; i < numbers.length; i += 1) {
    const n = numbers[i];
    if (n === 0) Object.assign(pen, { colour: '', bold: false, faint: false, italic: false, under: false });
    else if (n === 1) pen.bold = true;
    else if (n === 2) pen.faint = true;
    else if (n === 3) pen.italic = true;
    else if (n === 4) pen.under = true;
    else if (n === 22) pen.bold = pen.faint = false;
    else if (n === 23) pen.italic = false;
    else if (n === 24) pen.under = false;
    else if (n >= 30 && n <= 37) pen.colour = COLOURS[n - 30];
    else if (n >= 90 && n <= 97) pen.colour = COLOURS[n - 90];
    else if (n === 39) pen.colour = '';
    else if (n === 38 || n === 48) i += numbers[i + 1] === 5 ? 2 : 4;
  }
}

/** @param {number} bytes */
export function bytes(bytes) {
  if (bytes < 1024) return `${bytes} B`;
  const units = ['KB', 'MB', 'GB', 'TB'];
  let value = bytes / 1024;
  let unit = 0;
  while (value >= 1024 && unit < units.length - 1) [value, unit] = [value / 1024, unit + 1];
  return `${value < 10 ? value.toFixed(1) : Math.round(value)} ${units[unit]}`;
}

/** @param {number} n */
export function number(n) {
  return n.toLocaleString('en-GB');
}

/**
 * `1 task`, `12,000 tasks`.
 * @param {number} n
 * @param {string} one
 * @param {string} [many]
 */
export function counted(n, one, many = `${one}s`) {
  return `${number(n)} ${n === 1 ? one : many}`;
}
