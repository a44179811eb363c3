import { expect, it } from '@jest/globals';
import { withoutPersonalData } from './retained-response.js';

it('keeps ids, amounts, states and institutions, and every field', () => {
  const response =
    '{"id":"t-1","amount":1234567890.10,"status":"EFFECTIVE","type":{"name":"PIX"},' +
    '"beneficiary":{"number":"12","holder":{"document":"12345678909","name":"Maria"},' +
    '"participant":{"name":"Banco Um","ispb":"00000001"}},"qrCode":"0002"}';
  expect(withoutPersonalData(response)).toBe(
    response.replace('12345678909', '').replace('Maria', ''),
  );
});

it('removes personal data wherever it stands, also as an object or under another case', () => {
  const response =
    '[{"payer":{"Name":"Maria","address":{"street":"Rua A"},"phone":{"number":"9"}},' +
    '"description":"rent of Maria","additionalInfo":[{"key":"k","value":"v"}]}]';
  expect(withoutPersonalData(response)).toBe(
    '[{"payer":{"Name":"","address":null,"phone":null},"description":"","additionalInfo":null}]',
  );
});

it('keeps nothing of a text that is not JSON', () => {
  expect(withoutPersonalData('Maria')).toBeNull();
});
