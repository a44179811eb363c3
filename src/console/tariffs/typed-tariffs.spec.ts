import { expect, it } from '@jest/globals';
import { translateInto } from '../texts.js';
import { changePriceList } from '../../reporting/tariffs/tariffs.schema.js';
import { readBody } from '../kit/form.js';
import { readTypedTariffs, writeTypedTariffs } from './typed-tariffs.js';

const read = (typed: string, language: 'pt' | 'en' = 'pt') =>
  readBody(changePriceList.body, {
    ...{ validFrom: '2026-11-01', reason: 'Contrato' },
    tariffs: readTypedTariffs(translateInto(language), typed),
  }).tariffs;

it.each(['pt', 'en'] as const)('are read as they are written, in %s', (language) => {
  const typed =
    'pix_received; 0,50; 100; ; ; tarifa pix; 501=0,40 1001=0,30\n\npackage;29,90;;month';
  const tariffs = read(typed, language).map((one) => ({ ...one, text: one.text ?? null }));
  expect(tariffs).toMatchObject([
    {
      ...{ kind: 'pix_received', price: 50n, freeItems: 100, period: 'each', text: 'tarifa pix' },
      ...{
        charged: 'same_period',
        tiers: [
          { from: 501, price: 40n },
          { from: 1001, price: 30n },
        ],
      },
    },
    { kind: 'package', period: 'month', price: 2_990n, freeItems: 0, tiers: [], text: null },
  ]);
  const written = writeTypedTariffs(translateInto(language), tariffs);
  expect(read(written, language).map((one) => ({ ...one, text: one.text ?? null }))).toEqual(
    tariffs,
  );
});

it('knows the words of the page, with and without accents', () => {
  expect(read('Devolucao de PIX; 1; 0; MÊS; seguinte')).toMatchObject([
    { kind: 'pix_refund', period: 'month', charged: 'next_period', price: 100n },
  ]);
});

it.each(['Pix; 1', 'pix_sent; grátis', 'pix_sent; 1; ; semana', 'pix_sent; 1; ; ; ; ; 5'])(
  'refuses %s',
  (typed) =>
    expect(() => read(typed)).toThrow(expect.objectContaining({ code: 'validation_failed' })),
);
