import { describe, expect, it } from '@jest/globals';
import { compileTextPattern, maxPatternLength } from './text-pattern.js';

const matches = (pattern: string, text: string) => compileTextPattern(pattern).matches(text);

describe('a text pattern', () => {
  it.each([
    ['cielo', 'CREDITO CIELO S.A.', true],
    ['^salário', 'SALARIO DE MARCO', true],
    ['salario', 'Salário de março', true],
    ['cielo.*(visa|master)', 'Cielo vendas MASTER', true],
    ['^cielo', 'CREDITO CIELO', false],
    [String.raw`lote \d{4}`, 'LOTE 0012', true],
    [String.raw`lote \d{4}`, 'LOTE 12', false],
  ])('%s in %j: %j', (pattern, text, expected) => {
    expect(matches(pattern, text)).toBe(expected);
  });

  it.each(['(', 'a**', '(?<=x)y', String.raw`(a)\1`, '((a{1000}){1000})'])(
    '%s is refused with a sentence for its author',
    (pattern) => {
      expect(() => compileTextPattern(pattern)).toThrow(/^(Must be a valid|Repeats too much)/);
    },
  );

  it('is refused above its greatest length or size', () => {
    expect(() => compileTextPattern('a'.repeat(maxPatternLength + 1))).toThrow(SyntaxError);
    expect(() => compileTextPattern(String.raw`(\pL{100}){10}`)).toThrow('Repeats too much');
  });

  it('takes no longer for a text that other engines search for hours', () => {
    const startedAt = performance.now();
    expect(matches('(a+)+$', `${'a'.repeat(900)}!`)).toBe(false);
    expect(performance.now() - startedAt).toBeLessThan(1_000);
  });
});
