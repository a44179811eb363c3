import type { BatchElement } from '../../bank-contract/batch-transfers.js';
import { bank, holderOf, type SandboxAccount } from '../accounts/party.js';
import { isPartShown, type Preset } from '../presets/presets.js';
import type { BatchItem } from './batch-plan.js';

const type = { id: 1, name: 'INTERNAL', description: 'Transferência interna' };

interface ProcessedItem {
  id: string;
  item: BatchItem;
  sender: SandboxAccount;
  recipient: SandboxAccount | null;
  at: Date;
}

/** The element of an item that was done, or that failed in a partial batch and moved no money. */
export function batchElement(
  { id, item, sender, recipient, at }: ProcessedItem,
  preset: Preset,
  error: { code: string; description: string } | null,
): BatchElement {
  const createdAt = at.toISOString();
  const transferredAt = error ? null : createdAt;
  return {
    id,
    ...(isPartShown('batch.externalId', preset) ? { externalId: item.externalId ?? null } : {}),
    type,
    status: error ? 'ERROR' : 'DONE',
    amount: item.amount,
    ...{ createdAt, transferAt: transferredAt, transferredAt },
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
    ...(error && isPartShown('batch.error', preset) ? { error } : {}),
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
