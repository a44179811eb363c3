import { type BankAccount, partyOfAccount, partyOutside } from '../accounts/party.js';
import { wireReais } from '../wire-values.js';

export interface OtherLine {
  typeName: string;
  notes: string | null;
  endToEndId: string | null;
  amountCents: bigint;
  isCredit: boolean;
}

const tedTypes = ['DEBIT_TRANSFER_EXTERNAL', 'CREDIT_TRANSFER_EXTERNAL'];

/**
 * A plausible proof of a line that a test writes: of a TED (real-bank.md A.8), or of a Pix where there is an
 * endToEndId, which lines carry in their proof alone. Null for what has none, such as a fee.
 */
export function proofOfOtherLine(
  line: OtherLine,
  sides: { id: string; account: BankAccount; counterparty: BankAccount | null },
): object | null {
  const own = partyOfAccount(sides.account);
  const other = sides.counterparty ? partyOfAccount(sides.counterparty) : partyOutside({});
  const told = {
    amount: wireReais(line.amountCents),
    description: line.notes,
    payer: line.isCredit ? other : own,
    beneficiary: line.isCredit ? own : other,
  };
  const { endToEndId } = line;
  if (endToEndId !== null)
    return { endToEndId, status: 'PIX_EFFECTIVE', type: 'PIX_MANUAL', ...told };
  return tedTypes.includes(line.typeName)
    ? { id: sides.id, status: 'EFFECTIVE', type: 'EXTERNAL', ...told }
    : null;
}
