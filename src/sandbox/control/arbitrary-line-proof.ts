import { type SandboxAccount, partyOfAccount, outsideParty } from '../accounts/party.js';
import { wireReais } from '../wire-values.js';

export interface ArbitraryLine {
  typeName: string;
  notes: string | null;
  endToEndId: string | null;
  amountCents: bigint;
  isCredit: boolean;
}

const tedTypes = ['DEBIT_TRANSFER_EXTERNAL', 'CREDIT_TRANSFER_EXTERNAL'];

/**
 * A plausible proof for a line that a test posts: of a TED (real-bank.md A.8), or of a Pix when
 * there is an endToEndId. A line shows its endToEndId only in the proof. Null for lines without
 * proof, such as a fee.
 */
export function proofOfArbitraryLine(
  line: ArbitraryLine,
  sides: { id: string; account: SandboxAccount; counterparty: SandboxAccount | null },
): object | null {
  const ownParty = partyOfAccount(sides.account);
  const counterparty = sides.counterparty ? partyOfAccount(sides.counterparty) : outsideParty({});
  const common = {
    amount: wireReais(line.amountCents),
    description: line.notes,
    payer: line.isCredit ? counterparty : ownParty,
    beneficiary: line.isCredit ? ownParty : counterparty,
  };
  const { endToEndId } = line;
  if (endToEndId !== null)
    return { endToEndId, status: 'PIX_EFFECTIVE', type: 'PIX_MANUAL', ...common };
  return tedTypes.includes(line.typeName)
    ? { id: sides.id, status: 'EFFECTIVE', type: 'EXTERNAL', ...common }
    : null;
}
