import { indentContent } from './indented-content.js';

describe('indentContent', () => {
  it('shows one field a line, whatever spaces the bank sent', () => {
    const lines = ['{', '  "nsu": 7,', '  "type": {', '    "name": "PIX"', '  }', '}'].join('\n');
    expect(indentContent('{"nsu":7,"type":{"name":"PIX"}}')).toBe(lines);
    expect(indentContent('{ "nsu" : 7,\n\t"type": { "name": "PIX" } }')).toBe(lines);
  });

  it('shows what is empty on one line', () => {
    expect(indentContent('{"a":{ },"b":[]}')).toBe('{\n  "a": {},\n  "b": []\n}');
  });

  it('shows letters in place of their escapes', () => {
    expect(indentContent(String.raw`["Jo\u00e3o \"Zé\" \\ {1,2}"]`)).toBe(
      String.raw`[` + '\n  ' + String.raw`"João \"Zé\" \\ {1,2}"` + '\n]',
    );
  });

  it('keeps line breaks and half characters escaped', () => {
    expect(indentContent(String.raw`["a\nb\ud800"]`)).toContain(String.raw`"a\nb\ud800"`);
  });

  it.each([
    ['a line separator', '\u2028', '2028'],
    ['a next line', '\u0085', '0085'],
    ['a mark that reverses what follows', '\u202e', '202e'],
    ['a space without width', '\u200b', '200b'],
  ])('escapes %s, however the bank sent it', (_, character, code) => {
    const shown = `[\n  "x\\u${code} 1"\n]`;
    expect(indentContent(`["x\\u${code} 1"]`)).toBe(shown);
    expect(indentContent(`["x${character} 1"]`)).toBe(shown);
  });

  it('keeps numbers as they were written', () => {
    expect(indentContent('[10.000000000000000001,1.10]')).toBe(
      '[\n  10.000000000000000001,\n  1.10\n]',
    );
  });
});
