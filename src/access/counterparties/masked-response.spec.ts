import { describe, expect, it } from '@jest/globals';
import { maskResponse, withoutPersonalData } from './masked-response.js';

const holder = { name: 'Ana Souza', document: '12345678909', email: 'ana@example.com' };
const party = { number: '0012345-6', branch: '0001', holder, participant: { name: 'Banco Um' } };
const maskedParty = {
  ...{ number: '***56', branch: '0001', participant: { name: 'Banco Um' } },
  holder: { name: 'A*** S***', document: '***.456.789-**', email: '' },
};

describe('a response for a caller without the scope', () => {
  it('has each party masked, wherever it stands', () =>
    expect(maskResponse({ data: [{ response: { Payer: party, sender: [party] } }] })).toEqual({
      data: [{ response: { Payer: maskedParty, sender: [maskedParty] } }],
    }));

  it('has the codes by which a charge is paid, ids, times and metadata', () => {
    const charge = {
      ...{ description: 'order 1', additionalInfo: [{ key: 'DigitableLine', value: '0019' }] },
      ...{ number: '7', createdAt: new Date(0), nsu: 1n, type: { name: 'PIX' } },
      metadata: { name: 'Ana Souza', document: '1' },
    };
    expect(maskResponse(charge)).toEqual(charge);
  });

  it('has nothing of the notes of the bank, which name people', () =>
    expect(maskResponse({ nsu: 4n, notes: 'Devolução de Pix a Ana Souza' })).toEqual({
      ...{ nsu: 4n, notes: '' },
    }));

  it('has masked accounts, and nothing of a name or tax id that is no text', () =>
    expect(
      maskResponse({ beneficiaryAccount: '0012345-6', name: { first: 'Ana' }, document: 123 }),
    ).toEqual({ beneficiaryAccount: '***56', name: null, document: null }));
});

describe('a response of which the personal data is deleted', () => {
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
});
