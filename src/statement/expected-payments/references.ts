// The kinds of ids that tie a statement line to an expected payment, declared once, the most
// reliable first. Matching, searching and the queries of both follow from the declarations.

interface ReferenceKindDeclaration {
  /**
   * The column of `statement_line` that carries it, and the field of the line's facts. Null for a
   * kind that several payments share: it names no payment, and only helps to choose among payments
   * of one amount.
   */
  line: { column: string; field: string } | null;
  /** The reversal of a payment carries it too. A client may reuse the ids that it chooses. */
  isOnReversal: boolean;
  /** A payer may write it into the notes, where match rules find it. */
  isInNotes: boolean;
  /** Another system may declare a payment with it. */
  isDeclarable: boolean;
  /** It is personal data: without the scope it is masked, and nothing is found by it. */
  isPersonal: boolean;
}

export const referenceKindDeclarations = {
  /** Of the request. */
  idempotency_key: {
    line: { column: 'idempotency_key', field: 'idempotencyKey' },
    isOnReversal: true,
    isInNotes: false,
    isDeclarable: false,
    isPersonal: false,
  },
  /** In the bank's response. */
  nsu: {
    line: { column: 'nsu', field: 'nsu' },
    isOnReversal: false,
    isInNotes: false,
    isDeclarable: true,
    isPersonal: false,
  },
  /** The bank's id of the movement. */
  movement_id: {
    line: { column: 'movement_id', field: 'movementId' },
    isOnReversal: true,
    isInNotes: false,
    isDeclarable: true,
    isPersonal: false,
  },
  end_to_end_id: {
    line: { column: 'end_to_end_id', field: 'endToEndId' },
    isOnReversal: true,
    isInNotes: false,
    isDeclarable: true,
    isPersonal: false,
  },
  /** Chosen by the client. */
  external_id: {
    line: { column: 'external_id', field: 'externalId' },
    isOnReversal: false,
    isInNotes: true,
    isDeclarable: true,
    isPersonal: false,
  },
  correlation_id: {
    line: { column: 'correlation_id', field: 'correlationId' },
    isOnReversal: false,
    isInNotes: true,
    isDeclarable: true,
    isPersonal: false,
  },
  bill_code: {
    line: { column: 'bill_code', field: 'billCode' },
    isOnReversal: true,
    isInNotes: false,
    isDeclarable: true,
    isPersonal: false,
  },
  /** The Pix that is refunded. */
  original_end_to_end_id: {
    line: null,
    isOnReversal: false,
    isInNotes: false,
    isDeclarable: false,
    isPersonal: false,
  },
  /** The account that receives the money. */
  counterparty: {
    line: null,
    isOnReversal: false,
    isInNotes: false,
    isDeclarable: false,
    isPersonal: true,
  },
} as const satisfies Record<string, ReferenceKindDeclaration>;

export type ReferenceKind = keyof typeof referenceKindDeclarations;

/** The kinds for which a condition of their declaration holds. */
type KindsWith<Condition> = {
  [Kind in ReferenceKind]: (typeof referenceKindDeclarations)[Kind] extends Condition
    ? Kind
    : never;
}[ReferenceKind];
export type LineReferenceKind = KindsWith<{ line: object }>;
export type DeclarableKind = KindsWith<{ isDeclarable: true }>;

export interface Reference {
  kind: ReferenceKind;
  value: string;
}

type LineReference = NonNullable<(typeof referenceKindDeclarations)[ReferenceKind]['line']>;

/** The ids that a line carries, by the names of its facts. */
export type CarriedIds = Readonly<Partial<Record<LineReference['field'], string | bigint | null>>>;

/** The id of this kind on a line; null if it carries none. */
export function idOnLine(line: CarriedIds, kind: ReferenceKind): string | null {
  const { line: carried } = referenceKindDeclarations[kind];
  return (carried === null ? null : line[carried.field])?.toString() ?? null;
}

const declarations = Object.entries(referenceKindDeclarations) as [
  ReferenceKind,
  ReferenceKindDeclaration,
][];

/** The most reliable first. */
export const referenceKinds: readonly ReferenceKind[] = declarations.map(([kind]) => kind);

/** The kinds that a line carries, with their columns. */
export const lineReferenceKinds = declarations.flatMap(([kind, { line }]) =>
  line === null ? [] : [{ kind: kind as LineReferenceKind, column: line.column }],
);

/** The kinds that several payments may share: they name no payment. */
export const sharedReferenceKinds = kindsWhere(({ line }) => line === null);

export const reversalReferenceKinds = kindsWhere(({ isOnReversal }) => isOnReversal);

export const noteReferenceKinds = kindsWhere(({ isInNotes }) => isInNotes);

/** The kinds with which another system may declare a payment. */
export const declarableKinds = kindsWhere(({ isDeclarable }) => isDeclarable) as DeclarableKind[];

export const impersonalReferenceKinds = kindsWhere(({ isPersonal }) => !isPersonal);

function kindsWhere(holds: (declaration: ReferenceKindDeclaration) => boolean): ReferenceKind[] {
  return declarations.filter(([, declaration]) => holds(declaration)).map(([kind]) => kind);
}
