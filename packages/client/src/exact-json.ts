// JSON with exact amounts: JSON.parse reads 10.000000000000000001 as 10.
import { decimalText, isDecimal } from './amounts.js';

/**
 * What numbers a body has, by the API reference: 1 is an amount, which is a text here; 2 is an id
 * that may be a number or a text, and is a text here; 3 is an integer that a float may not hold,
 * and is a text here. The elements of an array have the place of the array. `*` is any field of a
 * map.
 */
export type Place = 1 | 2 | 3 | { readonly [field: string]: Place };

/** Throws SyntaxError for what is no JSON. */
export function readJson(text: string, place?: Place): unknown {
  JSON.parse(text); // so that what follows may trust the text
  const read = tokensOf(text);
  let at = 0;
  const isAtEnd = (end: string): boolean => {
    if (read[at] === ',') at += 1;
    if (read[at] !== end) return false;
    at += 1;
    return true;
  };
  const next = (here: Place | undefined): unknown => {
    const token = read[at++] as string;
    if (token === '[') {
      const items: unknown[] = [];
      while (!isAtEnd(']')) items.push(next(here));
      return items;
    }
    if (token === '{') {
      const fields: [string, unknown][] = [];
      while (!isAtEnd('}')) {
        const name = JSON.parse(read[at] as string) as string;
        at += 2; // the name and its colon
        fields.push([name, next(placeOf(here, name))]);
      }
      return Object.fromEntries(fields);
    }
    return /^[-\d]/.test(token) ? numberOf(token, here) : (JSON.parse(token) as unknown);
  };
  return next(place);
}

const wordOrNumber = /[\w.+-]+/y;

/** Of valid JSON. A pattern would overflow the stack on a long text with many escapes. */
function tokensOf(text: string): string[] {
  const tokens: string[] = [];
  for (let at = 0; at < text.length;) {
    const first = text.charAt(at);
    let end = at + 1;
    if (first === '"') end = endOfString(text, at);
    else if (/[-\w]/.test(first)) {
      wordOrNumber.lastIndex = at;
      end = at + (wordOrNumber.exec(text)?.[0].length ?? 1);
    }
    if (first.trim() !== '') tokens.push(text.slice(at, end));
    at = end;
  }
  return tokens;
}

function endOfString(text: string, start: number): number {
  for (let end = start; ;) {
    end = text.indexOf('"', end + 1);
    let escapes = 0;
    while (text.charAt(end - 1 - escapes) === '\\') escapes += 1;
    if (escapes % 2 === 0) return end + 1;
  }
}

function placeOf(place: Place | undefined, name: string): Place | undefined {
  if (typeof place !== 'object') return undefined;
  return Object.hasOwn(place, name) ? place[name] : place['*'];
}

/** Any other number that a float cannot hold is a text, too. */
function numberOf(token: string, place: Place | undefined): number | string {
  if (place === 1) return decimalText(token);
  if (place === 2 || place === 3) return token;
  const float = Number(token);
  return decimalText(String(float)) === decimalText(token) ? float : token;
}

/** Writes texts that stand for numbers as these. Throws TypeError where one does not. */
export function writeJson(value: unknown, place?: Place, path = '$'): string | undefined {
  if (Array.isArray(value))
    return `[${value.map((one, at) => writeJson(one, place, `${path}[${at}]`) ?? 'null').join()}]`;
  if ((place === 1 || place === 3) && value !== null && value !== undefined) {
    if (typeof value === 'string' && isDecimal(value)) return value;
    throw new TypeError(`${path} must be a decimal text such as '292.51'`);
  }
  if (typeof value !== 'object' || value === null || 'toJSON' in value)
    return JSON.stringify(value) as string | undefined;
  const fields = Object.entries(value).flatMap(([name, one]) => {
    const text = writeJson(one, placeOf(place, name), `${path}.${name}`);
    return text === undefined ? [] : [`${JSON.stringify(name)}:${text}`];
  });
  return `{${fields.join(',')}}`;
}
