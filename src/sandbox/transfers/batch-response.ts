import type { BatchElement } from '../../contract/batch-transfers.js';
import { bank, holderOf, type SandboxAccount } from '../accounts/party.js';
import type { BatchItem } from './batch-plan.js';

const type = { id: 1, name: 'INTERNAL', description: 'Transferência interna' };

/** The input of an element of a batch response, for a done or a failed item. */
export interface BatchElementInput {
  id: string;
  item: BatchItem;
  sender: SandboxAccount;
  recipient: SandboxAccount | null;
  at: Date;
}

export function doneBatchElement(subject: BatchElementInput): BatchElement {
  const transferredAt = subject.at.toISOString();
  return { ...element(subject, 'DONE'), transferAt: transferredAt, transferredAt };
}

/** The element of an item that failed in a partial batch. The item moved no money. */
export function failedBatchElement(
  subject: BatchElementInput,
  error: { code: string; description: string },
): BatchElement {
  return { ...element(subject, 'ERROR'), transferAt: null, transferredAt: null, error };
}

function element(
  { id, item, sender, recipient, at }: BatchElementInput,
  status: string,
): BatchElement {
  return {
    id,
    externalId: item.externalId ?? null,
    type,
    status,
    amount: item.amount,
    createdAt: at.toISOString(),
    sender: batchParty(sender),
    recipient: recipient
      ? batchParty(recipient)
      : {
          number: item.beneficiaryAccountNumber,
          branch: null,
          type: null,
          holder: null,
          bank: null,
        },
    tags: [],
  };
}

function batchParty(account: SandboxAccount): BatchElement['sender'] {
  return {
    number: account.number,
    branch: account.branch,
    type: 'CURRENT',
    holder: { ...holderOf(account), email: account.email },
    bank: { code: bank.code, name: bank.name, nameFantasy: bank.name, ispbCode: bank.ispb },
  };
}
