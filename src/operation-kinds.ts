// Every kind of operation, declared once. The module that sends a kind registers how
// (`OperationKind`); what others need to know of it follows from here: its events, the lists of the
// console, and that each has its texts.

interface OperationKindDeclaration {
  /** Whether the statement is expected to show money of it. */
  isExpected: boolean;
  /** What sends money by it, in the names of events; null for what sends none. */
  sends: 'transfer' | 'bill_payment' | 'refund' | null;
  /** Whether its request names who pays or is paid. A batch has accounts only. */
  namesParty: boolean;
}

const notExpected = { isExpected: false, sends: null, namesParty: false } as const;

export const operationKinds = {
  create_charge: { isExpected: true, sends: null, namesParty: true },
  create_static_qr: { isExpected: true, sends: null, namesParty: false },
  void_charge: notExpected,
  change_charge_due_date: notExpected,
  create_transfer: { isExpected: true, sends: 'transfer', namesParty: true },
  create_transfer_batch: { isExpected: true, sends: 'transfer', namesParty: false },
  create_ted: { isExpected: true, sends: 'transfer', namesParty: true },
  pay_bill: { isExpected: true, sends: 'bill_payment', namesParty: false },
  refund_pix: { isExpected: true, sends: 'refund', namesParty: false },
  create_customer: notExpected,
} as const satisfies Record<string, OperationKindDeclaration>;

type Kinds = typeof operationKinds;
export type OperationKindName = keyof Kinds;
export type ExpectedKindName = {
  [Name in OperationKindName]: Kinds[Name]['isExpected'] extends true ? Name : never;
}[OperationKindName];
export type SendingKindName = {
  [Name in OperationKindName]: Kinds[Name]['sends'] extends null ? never : Name;
}[OperationKindName];

export const operationKindNames = Object.keys(operationKinds) as OperationKindName[];

/** What sends money by a kind; null for what sends none, as also for other sources of payments. */
export function sentBy(kind: string): OperationKindDeclaration['sends'] {
  return Object.hasOwn(operationKinds, kind)
    ? operationKinds[kind as OperationKindName].sends
    : null;
}

export const sendingKinds = operationKindNames.filter(
  (name): name is SendingKindName => sentBy(name) !== null,
);

/** Kinds whose requests name a party. */
export const namingKinds = operationKindNames.filter((name) => operationKinds[name].namesParty);
