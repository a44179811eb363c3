import { parseJson } from '../platform/json/exact-json.js';
import { transferRequest, transferShape } from './transfers.js';

const decode = (text: string) => transferRequest.safeDecode(parseJson(text) as never);
const shapeOf = (text: string) => {
  const result = decode(text);
  return result.success ? transferShape(result.data) : null;
};
const errorPaths = (text: string) =>
  decode(text).error?.issues.map(({ path }) => path.map(String).join('.'));

const manual = (holder: object = {}) =>
  JSON.stringify({
    amount: 1,
    beneficiary: {
      ...{ number: '1', branch: '1', type: 'SAVING', participantIspb: '0000000A' },
      holder: { document: '52998224725', name: 'João', type: 'NATURAL', ...holder },
    },
  });

it('distinguishes the three shapes', () => {
  expect(shapeOf('{"amount":1.10,"endToEndId":"E1","initiationType":"KEY"}')).toEqual({
    ...{ shape: 'key', amountCents: 110n, description: null, endToEndId: 'E1' },
  });
  expect(shapeOf(manual())).toMatchObject({ shape: 'manual', amountCents: 100n });
  expect(shapeOf('{"amount":1,"beneficiaryAccount":"2","description":"x"}')).toEqual({
    ...{ shape: 'internal', amountCents: 100n, description: 'x' },
    ...{ beneficiaryAccount: '2', externalId: null },
  });
});

it('treats null as a missing field, and allows unknown fields', () => {
  const text =
    '{"amount":1,"beneficiaryAccount":"2","beneficiary":null,"endToEndId":null,"future":{"a":1}}';
  expect(shapeOf(text)?.shape).toBe('internal');
});

it.each([
  ['{}', ['amount']],
  ['{"amount":1}', ['']],
  ['{"amount":1,"endToEndId":"E1"}', ['initiationType']],
  ['{"amount":1,"initiationType":"KEY"}', ['endToEndId']],
  [
    '{"amount":1,"endToEndId":"E1","beneficiaryAccount":"2"}',
    ['beneficiaryAccount', 'initiationType'],
  ],
  [
    '{"amount":1,"beneficiaryAccount":"2","initiationType":"KEY"}',
    ['beneficiaryAccount', 'endToEndId'],
  ],
  [
    '{"amount":1,"beneficiary":{}}',
    ['number', 'branch', 'type', 'participantIspb', 'holder'].map(
      (field) => `beneficiary.${field}`,
    ),
  ],
])('has the paths of the errors in %s', (text, paths) => {
  expect(errorPaths(text)?.sort()).toEqual([...paths].sort());
});

it('requires a valid document, and leaves it to the bank whether the holder type fits', () => {
  expect(errorPaths(manual({ document: '12ABC34501DE35', type: 'LEGAL' }))).toBeUndefined();
  expect(errorPaths(manual({ document: '12ABC34501DE35' }))).toBeUndefined();
  expect(errorPaths(manual({ document: '12ABC34501DE36' }))).toContain(
    'beneficiary.holder.document',
  );
});
