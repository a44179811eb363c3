// Every kind of break, declared once: who opens it, how urgent it is, and what may be refunded. The
// lists that queries and types use follow from it.

/** What opens a break of a kind, and resolves it when the cause is gone. */
type OpenedFor =
  /** A line without an explanation. */
  | 'line'
  /** The payments of a charge or QR code, whose lines are matched. */
  | 'settlement'
  /** Another finding about a payment or an operation. */
  | 'finding'
  /** What the sync stores about the statement itself. */
  | 'statement'
  /** A day that is certified. */
  | 'day';

interface BreakKindDeclaration {
  opened: readonly OpenedFor[];
  /** In reports for people, in Portuguese. */
  name: string;
  /** Money may be lost, or the statement copy is unreliable: its severity is at least high. */
  isUrgent?: true;
  /** A received Pix may have to be refunded; `with amount`: the request must say how much. */
  refund?: 'by a person or policy' | 'by a person' | 'with amount';
}

export const breakKinds = {
  unexpected: { opened: ['line'], name: 'Lançamento inesperado', refund: 'by a person' },
  ambiguous: { opened: ['line'], name: 'Mais de uma origem possível', refund: 'by a person' },
  duplicate_payment: {
    opened: ['line', 'settlement'],
    name: 'Pagamento em duplicidade',
    refund: 'by a person or policy',
  },
  amount_mismatch: { opened: ['line'], name: 'Valor diferente do esperado' },
  // The amount of the break is the unpaid part.
  underpaid: { opened: ['settlement'], name: 'Pago a menor', refund: 'with amount' },
  overpaid: { opened: ['settlement'], name: 'Pago a maior', refund: 'by a person or policy' },
  paid_after_cancellation: {
    opened: ['settlement'],
    name: 'Pago depois de cancelado',
    refund: 'by a person or policy',
  },
  paid_after_expiry: {
    opened: ['settlement'],
    name: 'Pago depois de vencido o prazo',
    refund: 'by a person or policy',
  },
  missing: { opened: ['finding'], name: 'Esperado e não recebido' },
  late_line: { opened: ['finding', 'day'], name: 'Lançamento tardio' },
  failed_but_debited: { opened: ['finding'], name: 'Falhou, mas foi debitado', isUrgent: true },
  unknown_outcome: { opened: ['finding'], name: 'Desfecho desconhecido', isUrgent: true },
  unreadable_line: { opened: ['statement'], name: 'Lançamento ilegível' },
  broken_balance_chain: {
    opened: ['statement', 'day'],
    name: 'Saldos que não se encadeiam',
    isUrgent: true,
  },
  disputed: { opened: ['statement'], name: 'Pix contestado', isUrgent: true },
  balance_mismatch: { opened: ['statement'], name: 'Saldo diferente do informado' },
} as const satisfies Record<string, BreakKindDeclaration>;

type Kinds = typeof breakKinds;
export type BreakKind = keyof Kinds;

/** The kinds that something opens. */
type KindsOpenedFor<For extends OpenedFor> = {
  [Kind in BreakKind]: For extends Kinds[Kind]['opened'][number] ? Kind : never;
}[BreakKind];
export type LineBreakKind = KindsOpenedFor<'line'>;
export type SettlementBreakKind = KindsOpenedFor<'settlement'>;
export type FoundBreakKind = KindsOpenedFor<'finding'>;

const declarations = Object.entries(breakKinds) as [BreakKind, BreakKindDeclaration][];

function kindsWhere(holds: (declaration: BreakKindDeclaration) => boolean): BreakKind[] {
  return declarations.filter(([, declaration]) => holds(declaration)).map(([kind]) => kind);
}

const isOpenedFor = (some: readonly OpenedFor[]) => (declaration: BreakKindDeclaration) =>
  declaration.opened.some((one) => some.includes(one));

/** Breaks of lines without an explanation. */
export const lineBreakKinds: readonly string[] = kindsWhere(isOpenedFor(['line']));

/** While a break of these kinds is open, its line counts as in a break, even if it is matched. */
export const explainingBreakKinds: readonly string[] = kindsWhere(
  isOpenedFor(['line', 'settlement']),
);

/** The kinds of breaks that a decision opens. */
export const decidedBreakKinds: readonly string[] = kindsWhere(
  isOpenedFor(['line', 'settlement', 'finding']),
);

/** The kinds of breaks of the statement itself, which are opened again each time. */
export const statementBreakKinds: readonly string[] = kindsWhere(isOpenedFor(['statement']));

export const urgentKinds: readonly string[] = kindsWhere(({ isUrgent }) => isUrgent === true);

/** How a break of this kind may be refunded; null if it cannot be. */
export function refundOfKind(kind: string): BreakKindDeclaration['refund'] | null {
  return declarations.find(([known]) => known === kind)?.[1].refund ?? null;
}

/** The kinds that a policy may refund, in the order in which they are listed. */
export const policyKinds = kindsWhere(({ refund }) => refund === 'by a person or policy');

/** The name of a kind for people; the kind itself where it is not declared. */
export function nameOfKind(kind: string): string {
  return declarations.find(([known]) => known === kind)?.[1].name ?? kind;
}

// The subject of a break: a break is unique by (account, kind, subject).
export function subjectOfLine(nsu: bigint): string {
  return `nsu:${nsu}`;
}

export function subjectOfExpected(expectedPaymentId: string): string {
  return `expected_payment:${expectedPaymentId}`;
}

export function subjectOfOperation(operationId: string): string {
  return `operation:${operationId}`;
}

export function subjectOfBill(operationId: string): string {
  return `bill_payment:${operationId}`;
}

/** A line that arrived late: its day already had a certificate. */
export function subjectOfLate(date: string, nsu: bigint): string {
  return `day:${date}/${nsu}`;
}
