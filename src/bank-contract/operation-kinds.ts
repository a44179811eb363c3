// Every kind of operation, declared once. The module that sends a kind registers how
// (`OperationKind`); what others need to know of it follows from here: its events, the lists of the
// console, and that each has its texts.

interface OperationKindDeclaration {
  /** The money of it that the statement is expected to show, in the names of events. */
  money: 'charge' | 'transfer' | 'bill_payment' | 'refund' | null;
  /** What its counterparty is; null where it has none, or several. */
  counterparty: 'account' | 'account of a look-up' | 'bar code' | 'refunded nsu' | null;
  /** Whether its request names who pays or is paid. A batch has accounts only. */
  namesParty: boolean;
}

const other = { money: null, counterparty: null, namesParty: false } as const;

export const operationKinds = {
  create_charge: { money: 'charge', counterparty: null, namesParty: true },
  create_static_qr: { money: 'charge', counterparty: null, namesParty: false },
  void_charge: other,
  change_charge_due_date: other,
  create_transfer: { money: 'transfer', counterparty: 'account of a look-up', namesParty: true },
  create_transfer_batch: { money: 'transfer', counterparty: null, namesParty: false },
  create_ted: { money: 'transfer', counterparty: 'account', namesParty: true },
  pay_bill: { money: 'bill_payment', counterparty: 'bar code', namesParty: false },
  refund_pix: { money: 'refund', counterparty: 'refunded nsu', namesParty: false },
  create_customer: other,
} as const satisfies Record<string, OperationKindDeclaration>;

type Kinds = typeof operationKinds;
export type OperationKindName = keyof Kinds;
type ExpectedMoney = NonNullable<OperationKindDeclaration['money']>;
export type SentMoneyName = Exclude<ExpectedMoney, 'charge'>;
export type ExpectedKindName = KindsOf<ExpectedMoney>;
export type SendingKindName = KindsOf<SentMoneyName>;
type KindsOf<Money extends ExpectedMoney> = {
  [Name in OperationKindName]: Kinds[Name]['money'] extends Money ? Name : never;
}[OperationKindName];

export const operationKindNames = Object.keys(operationKinds) as OperationKindName[];

/** What the service knows of a kind; null for other sources of payments. */
export function operationKindOf(kind: string): OperationKindDeclaration | null {
  return Object.hasOwn(operationKinds, kind) ? operationKinds[kind as OperationKindName] : null;
}

/** What sends money by a kind; null for what sends none. */
export function sentBy(kind: string): SentMoneyName | null {
  const money = operationKindOf(kind)?.money ?? null;
  return money === 'charge' ? null : money;
}

export const sendingKinds = operationKindNames.filter(
  (name): name is SendingKindName => sentBy(name) !== null,
);

/** Kinds whose requests name a party. */
export const namingKinds = operationKindNames.filter((name) => operationKinds[name].namesParty);

/** Kinds that pay an account which a look-up may have named. */
export const lookUpKinds = operationKindNames.filter(
  (name) => operationKinds[name].counterparty === 'account of a look-up',
);

/** Kinds whose request pays one counterparty. */
export const singleKinds = operationKindNames.filter(
  (name) => operationKinds[name].counterparty !== null,
);

/** Whether an operation of the kind pays one account. */
export function paysAccount(kind: string): boolean {
  const counterparty = operationKindOf(kind)?.counterparty ?? null;
  return counterparty === 'account' || counterparty === 'account of a look-up';
}
