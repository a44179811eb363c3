// What the contract suite sends money to: whatever the environment names (a real bank's homologation has keys and
// accounts of its own), else the sandbox's fixtures.
import { randomUUID } from 'node:crypto';
import type { Answer, BankUnderTest } from './bank-under-test.js';
import { newKey } from './samples.js';

const {
  CONTRACT_DICT_KEY: dictKey = 'maria@pessoa-dois.example',
  CONTRACT_DICT_KEY_DOCUMENT: dictKeyDocument = '12345678909',
  CONTRACT_BENEFICIARY_ACCOUNT: beneficiaryAccount = '1000002',
  CONTRACT_BENEFICIARY_ISPB: participantIspb = '88888888',
} = process.env;

/** A Pix key, its holder's document, and an account of the same bank that is not the caller's. */
export const known = { dictKey, dictKeyDocument, beneficiaryAccount };

const lookupPath = '/baas/api/v2/pix/dict/payment-initialization';
const transferPath = '/baas/api/v2/transfers';
const batchPath = '/baas/v1/transfers/batch';

/** The calls of these chapters, on a bank that is there when they are made. */
export function transferCalls(bank: () => BankUnderTest) {
  const send = (body: unknown, headers: Record<string, string> = newKey(), apiKey?: string) =>
    bank().call('POST', transferPath, { body, headers, ...(apiKey ? { apiKey } : {}) });
  const lookUp = (body: unknown = { key: dictKey }, apiKey?: string) =>
    bank().call('POST', lookupPath, { body, ...(apiKey ? { apiKey } : {}) });
  return {
    lookUp,
    send,
    /** The endToEndId of a fresh look-up. */
    endToEndId: async (key = dictKey): Promise<string> =>
      (await lookUp({ key })).body.endToEndId as string,
    sendBatch: (body: unknown, headers: Record<string, string> = newKey()) =>
      bank().call('POST', batchPath, {
        body,
        headers: { 'content-type': 'application/json-patch+json', ...headers },
      }),
    get: (identifier: string, apiKey?: string): Promise<Answer> =>
      bank().call('GET', `${transferPath}/${encodeURIComponent(identifier)}`, {
        ...(apiKey ? { apiKey } : {}),
      }),
  };
}

export function byKey(endToEndId: string, changes: Record<string, unknown> = {}) {
  return { amount: 1.25, description: 'Pedido 42', endToEndId, initiationType: 'KEY', ...changes };
}

export function manual(changes: Record<string, unknown> = {}) {
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

export function internal(changes: Record<string, unknown> = {}) {
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

const filled = expect.stringMatching(/.+/);

/** Payer and beneficiary as the contract tells them. */
export const party = {
  number: filled,
  branch: filled,
  type: filled,
  holder: { document: filled, name: filled, type: expect.stringMatching(/^(NATURAL|LEGAL)$/) },
  participant: { name: filled, ispb: expect.stringMatching(/^[0-9A-Z]{8}$/) },
};
