// Shows a statement line's text to people.
import { escapeOf } from '../formats.js';

/** What would break, reverse or hide a part of the text: payers write some of its values. */
const unseen = /(?! )[\p{Cc}\p{Cf}\p{Z}]/gu;

/**
 * One field a line, without the bank's own spaces, and with letters in place of their escapes.
 * Numbers stay as the bank wrote them.
 */
export function indentContent(content: string): string {
  let depth = 0;
  const newLine = () => `\n${'  '.repeat(depth)}`;
  return content.replace(/"(?:[^"\\]|\\.)*"|[{[]\s*[}\]]|[{}[\],:]|\s+/g, (token) => {
    if (/^[{[]\s*[}\]]$/.test(token)) return `${token.at(0)}${token.at(-1)}`;
    if (token === '{' || token === '[') depth += 1;
    if (token === '}' || token === ']') {
      depth -= 1;
      return `${newLine()}${token}`;
    }
    if (token === ':') return ': ';
    if (token.startsWith('"')) return JSON.stringify(JSON.parse(token)).replace(unseen, escapeOf);
    return token.trim() === '' ? '' : `${token}${newLine()}`;
  });
}
