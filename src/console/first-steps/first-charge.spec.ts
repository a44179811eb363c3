import { describe, expect, it } from '@jest/globals';
import { firstChargeBody, curlOf, exampleCharge } from './first-charge.js';

const example = exampleCharge('primeira-0a1b2c3d', '2026-11-24');

describe('the first charge', () => {
  it('is due a week later', () => {
    expect(example.dueDate).toBe('2026-12-01');
  });

  it.each([
    ['149,90', '149.90'],
    ['1.234,56', '1234.56'],
    ['149.90', '149.90'],
    ['150', '150'],
  ])('has the amount %s as %s reais', (amount, reais) => {
    expect(String(firstChargeBody({ ...example, amount }).Amount)).toBe(reais);
  });

  it.each(['', 'dez', '1,2,3', '-5'])('leaves %p as text, which the schema refuses', (amount) => {
    expect(firstChargeBody({ ...example, amount }).Amount).toBe(amount);
  });

  it('is a command that a quotation mark does not end', () => {
    const command = curlOf('http://127.0.0.1:3000', 'k', { ...example, payerName: "Joana D'Arc" });
    expect(command).toContain(`"name":"Joana D'\\''Arc"`);
    expect(command).toContain('http://127.0.0.1:3000/baas/v1/charges');
  });
});
