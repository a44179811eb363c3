// Who is notified of a debit: one table, of which the first row that holds decides. It opens no
// break and ends none.

/** What the matcher found of a debit, from the facts that it decided the line by. */
export interface DebitEvidence {
  /** Before go-live, imported, or of a time at which another system may have sent it. */
  isEarlier: boolean;
  /** The operation whose ids the line has. `second`: another debit pays it already. */
  own: 'agrees' | 'differs' | 'second' | null;
  /** It pays an operation with another amount, which a rule or the range of its bill allows. */
  hasOtherAmount: boolean;
  /** An operation without such an id that the line pays, or may pay. */
  operation: 'explains' | 'may_explain' | null;
  /** The only Pix that the line refunds, of which so much was left. */
  refundOfNsu: string | null;
  /** The bank undoes a credit of at least this amount that the line names. */
  reversesCredit: boolean;
  /** Declared or ruled before the line: by payee and amount, or by one of them. */
  declared: 'in_full' | 'in_part' | null;
}

/** What is known of a debit beside its own component. */
export interface DebitSurroundings {
  /** It was stored more than a day after it occurred. */
  isLate: boolean;
  /** It was stored at least a minute ago. */
  hasWaited: boolean;
  /** The bank reported a MED request about the Pix that it refunds. */
  isDisputed: boolean;
  /** A fee by its type, with a tariff of a price list: a wrong one is a `fee_mismatch`. */
  isPricedFee: boolean;
  /** `credited`: the statement of the other account shows it; `expected`: it does not yet. */
  ownAccount: 'credited' | 'expected' | 'same_tax_id' | null;
  /** A person declared debits of this type, and the day's total is within the maximum. */
  isWithinDeclaredType: boolean;
  /** The line, or all such lines of 24 hours, are above the account's threshold. */
  isAboveThreshold: boolean;
}

/** `alarm` goes to everybody at once; `recorded` is counted in one alert. */
export type DebitNotice = 'nothing' | 'recorded' | 'wait' | 'alert' | 'critical_alert' | 'alarm';

type NotedDebit = DebitEvidence & DebitSurroundings;
interface Row {
  name: string;
  /** Null where the row does not hold. */
  notice: (debit: NotedDebit) => DebitNotice | null;
}

const waiting = ({ hasWaited }: NotedDebit): DebitNotice => (hasWaited ? 'alert' : 'wait');
const when = (holds: boolean, notice: DebitNotice): DebitNotice | null => (holds ? notice : null);

const rows = [
  {
    name: 'earlier',
    notice: ({ isEarlier, isLate }) => when(isEarlier || isLate, 'recorded'),
  },
  {
    name: 'own_id',
    notice: ({ own, hasOtherAmount }) => {
      if (own === 'differs') return 'alarm';
      return hasOtherAmount ? 'alert' : when(own === 'agrees', 'nothing');
    },
  },
  { name: 'second_debit', notice: ({ own }) => when(own === 'second', 'alarm') },
  {
    name: 'operation',
    notice: (debit) =>
      debit.operation === 'explains'
        ? 'nothing'
        : when(debit.operation === 'may_explain', waiting(debit)),
  },
  {
    name: 'refund',
    notice: ({ refundOfNsu, isDisputed }) =>
      when(refundOfNsu !== null, isDisputed ? 'nothing' : 'alert'),
  },
  { name: 'reversal', notice: ({ reversesCredit }) => when(reversesCredit, 'alert') },
  { name: 'fee', notice: ({ isPricedFee }) => when(isPricedFee, 'nothing') },
  {
    name: 'own_account',
    notice: (debit) => {
      const { ownAccount } = debit;
      if (ownAccount === 'credited') return 'nothing';
      return ownAccount === 'expected' ? waiting(debit) : when(ownAccount !== null, 'alert');
    },
  },
  {
    name: 'declared',
    notice: ({ declared }) => when(declared !== null, declared === 'in_full' ? 'nothing' : 'alert'),
  },
  {
    name: 'declared_type',
    notice: ({ isWithinDeclaredType }) => when(isWithinDeclaredType, 'nothing'),
  },
  {
    name: 'unexplained',
    notice: ({ isAboveThreshold }) => (isAboveThreshold ? 'alarm' : 'critical_alert'),
  },
] as const satisfies readonly Row[];

export type DebitRow = (typeof rows)[number]['name'];
export const debitRows = rows.map(({ name }) => name);

export function noticeOf(debit: NotedDebit): { row: DebitRow; notice: DebitNotice } {
  for (const { name: row, notice: find } of rows) {
    const notice = find(debit);
    if (notice !== null) return { row, notice };
  }
  throw new Error('the last row holds for every debit');
}

/** Nothing explains the debit. */
export const noEvidence: DebitEvidence = {
  ...{ isEarlier: false, own: null, hasOtherAmount: false, operation: null, refundOfNsu: null },
  ...{ reversesCredit: false, declared: null },
};

/** What calls for the most of what the evidence allows. */
const unknownSurroundings: DebitSurroundings = {
  ...{ isLate: false, hasWaited: true, isDisputed: false, isPricedFee: false, ownAccount: null },
  ...{ isWithinDeclaredType: false, isAboveThreshold: true },
};

/** Whether somebody may be notified of a debit with this evidence. */
export const mayNotify = (evidence: DebitEvidence): boolean =>
  noticeOf({ ...evidence, ...unknownSurroundings }).notice !== 'nothing';
