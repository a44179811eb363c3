import { describe, expect, it } from '@jest/globals';
import { RE2JS } from 're2js';
import {
  compileTextPattern,
  maxPatternLength,
  maxTextLength,
  problemOfPattern,
} from './text-pattern.js';

const matches = (pattern: string, text: string) => compileTextPattern(pattern).matches(text);

/** How often the engine reads the text to search it. */
function readsOf(source: string, text: string): number {
  let reads = 0;
  const counted = new Proxy([...Buffer.from(text)], {
    get(bytes, name, receiver) {
      if (typeof name === 'string' && /^\d+$/.test(name)) reads += 1;
      return Reflect.get(bytes, name, receiver) as unknown;
    },
  });
  RE2JS.compile(source, RE2JS.CASE_INSENSITIVE).matcher(counted).find();
  return reads;
}

describe('a text pattern', () => {
  it.each([
    ['cielo', 'CREDITO CIELO S.A.', true],
    ['^salário', 'SALARIO DE MARCO', true],
    ['salario', 'Salário de março', true],
    ['SALÁRIO DE', ' salario   de\nmarço', true],
    ['cielo.*(visa|master)', 'Cielo vendas MASTER', true],
    ['^cielo', 'CREDITO CIELO', false],
    [String.raw`lote \d{4}`, 'LOTE 0012', true],
    [String.raw`lote \d{4}\b`, 'LOTE 12', false],
    [String.raw`\Dx`, '1x', false],
  ])('%s in %j: %j', (pattern, text, expected) => {
    expect(matches(pattern, text)).toBe(expected);
  });

  it.each(['(', 'a**', '(?<=x)y', String.raw`(a)\1`, '(a{1000}){1000}', '(((a{30}){30}){30}){30}'])(
    '%s is refused with a sentence for its author',
    (pattern) => {
      expect(() => compileTextPattern(pattern)).toThrow(/^(Must be a valid|Repeats too much)/);
    },
  );

  it.each([
    '.',
    '.+',
    '..',
    String.raw`\w`,
    String.raw`\D\d?`,
    '[a-f]',
    'a|b',
    ' ',
    '-',
    'x*',
    '(?:.)',
  ])('distinguishes no line as %s', (source) =>
    expect(problemOfPattern(source)).toMatchObject({
      reason: expect.stringMatching(/^pattern_of_/),
    }),
  );

  it.each(['cielo', '^cielo', 'lote \\d{4}', 'a1', 'sal[aá]rio', 'ab.*cd'])(
    'distinguishes lines as %s',
    (source) => expect(problemOfPattern(source)).toBeNull(),
  );

  it('is refused above its greatest length or size', () => {
    expect(() => compileTextPattern('a'.repeat(maxPatternLength + 1))).toThrow(SyntaxError);
    expect(() => compileTextPattern(String.raw`(\pL{100}){10}`)).toThrow('Repeats too much');
  });

  it.each(['(a+)+$', '(a|a)*b', '(a|aa)+$', '(.*a){20}', String.raw`^(\w+\s?)*$`])(
    'reads a text in proportion to its length, and at most a bounded number of times: %s',
    (pattern) => {
      const text = (length: number) => `${'a'.repeat(length)}!`;
      const [short, long] = [readsOf(pattern, text(500)), readsOf(pattern, text(1_000))];
      expect(short).toBeGreaterThan(0);
      expect(long / short).toBeLessThan(2.5);
      expect(long).toBeLessThan(100_000);
    },
  );

  it('reads no more than the beginning of a long text', () => {
    expect(matches('end', `${'x'.repeat(maxTextLength - 3)}end`)).toBe(true);
    expect(matches('end', `${'x'.repeat(maxTextLength)}end`)).toBe(false);
  });

  it('is compiled once', () => {
    expect(compileTextPattern('once')).toBe(compileTextPattern('once'));
  });
});
