// The beneficiaries of the contract suite's transfers: those of the environment variables (a real
// bank's homologation has other keys and accounts), or else the sandbox's fixtures.
import { randomUUID } from 'node:crypto';
import type { BankUnderTest, TestResponse } from './bank-under-test.js';
import { newKeyHeader } from './samples.js';

const {
  CONTRACT_DICT_KEY: dictKey = 'maria@pessoa-dois.example',
  CONTRACT_DICT_KEY_DOCUMENT: dictKeyDocument = '12345678909',
  CONTRACT_BENEFICIARY_ACCOUNT: beneficiaryAccount = '1000002',
  CONTRACT_BENEFICIARY_ISPB: participantIspb = '88888888',
} = process.env;

/** A Pix key, its holder's document, and an account of the same bank that is not the caller's. */
export const knownBeneficiaries = { dictKey, dictKeyDocument, beneficiaryAccount };

const lookupPath = '/baas/api/v2/pix/dict/payment-initialization';
const transferPath = '/baas/api/v2/transfers';
const batchPath = '/baas/v1/transfers/batch';

/** The calls of the transfer chapters. `bank` is evaluated at each call. */
export function transferCalls(bank: () => BankUnderTest) {
  const send = (body: unknown, headers: Record<string, string> = newKeyHeader(), apiKey?: string) =>
    bank().call('POST', transferPath, { body, headers, ...(apiKey ? { apiKey } : {}) });
  const lookUp = (body: unknown = { key: dictKey }, apiKey?: string) =>
    bank().call('POST', lookupPath, { body, ...(apiKey ? { apiKey } : {}) });
  return {
    lookUp,
    send,
    /** Looks a key up and returns the endToEndId. */
    newEndToEndId: async (key = dictKey): Promise<string> =>
      (await lookUp({ key })).body.endToEndId as string,
    sendBatch: (body: unknown, headers: Record<string, string> = newKeyHeader()) =>
      bank().call('POST', batchPath, {
        body,
        headers: { 'content-type': 'application/json-patch+json', ...headers },
      }),
    get: (identifier: string, apiKey?: string): Promise<TestResponse> =>
      bank().call('GET', `${transferPath}/${encodeURIComponent(identifier)}`, {
        ...(apiKey ? { apiKey } : {}),
      }),
  };
}

export function keyTransfer(endToEndId: string, changes: Record<string, unknown> = {}) {
  return { amount: 1.25, description: 'Pedido 42', endToEndId, initiationType: 'KEY', ...changes };
}

export function manualTransfer(changes: Record<string, unknown> = {}) {
  return {
    amount: 2.5,
    description: 'Nota 7',
    beneficiary: {
      number: '7654321',
      branch: '0001',
      type: 'CURRENT',
      participantIspb,
      holder: { document: '52998224725', name: 'João da Silva', type: 'NATURAL' },
    },
    ...changes,
  };
}

export function internalTransfer(changes: Record<string, unknown> = {}) {
  return {
    amount: 0.75,
    beneficiaryAccount,
    description: 'Repasse',
    externalId: randomUUID(),
    ...changes,
  };
}

export function batchItem(changes: Record<string, unknown> = {}) {
  return {
    externalId: randomUUID(),
    amount: 0.1,
    beneficiaryAccountNumber: beneficiaryAccount,
    ...changes,
  };
}

const filledText = expect.stringMatching(/.+/);

/** The form of payer and beneficiary in the contract's responses. */
export const partyShape = {
  number: filledText,
  branch: filledText,
  type: filledText,
  holder: {
    document: filledText,
    name: filledText,
    type: expect.stringMatching(/^(NATURAL|LEGAL)$/),
  },
  participant: { name: filledText, ispb: expect.stringMatching(/^[0-9A-Z]{8}$/) },
};
