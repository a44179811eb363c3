import type { BatchElement } from '../../contract/batch-transfers.js';
import { bank, type BankAccount } from '../accounts/party.js';
import type { BatchItem } from './batch-plan.js';

const type = { id: 1, name: 'INTERNAL', description: 'Transferência interna' };

/** What every element of a batch says, done or not. */
export interface ElementSubject {
  id: string;
  item: BatchItem;
  sender: BankAccount;
  recipient: BankAccount | null;
  at: Date;
}

export function doneElement(subject: ElementSubject): BatchElement {
  const transferredAt = subject.at.toISOString();
  return { ...element(subject, 'DONE'), transferAt: transferredAt, transferredAt };
}

/** One that was not done, in a batch that was done in part; nothing of it moved. */
export function failedElement(
  subject: ElementSubject,
  error: { code: string; description: string },
): BatchElement {
  return { ...element(subject, 'ERROR'), transferAt: null, transferredAt: null, error };
}

function element(
  { id, item, sender, recipient, at }: ElementSubject,
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

function batchParty(account: BankAccount): BatchElement['sender'] {
  return {
    number: account.number,
    branch: account.branch,
    type: 'CURRENT',
    holder: {
      document: account.holderDocument,
      name: account.holderName,
      email: account.email,
      type: account.holderType,
    },
    bank: { code: bank.code, name: bank.name, nameFantasy: bank.name, ispbCode: bank.ispb },
  };
}
