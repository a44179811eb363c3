// What follows from the declarations of break kinds: lists for queries, types for the matcher, and
// the subjects by which breaks are unique.
import {
  breakKinds,
  type BreakKind,
  type BreakKindDeclaration,
  type OpenedFor,
} from './break-kind-declarations.js';

type Kinds = typeof breakKinds;

/** The kinds that something opens. */
type KindsOpenedFor<For extends OpenedFor> = {
  [Kind in BreakKind]: For extends Kinds[Kind]['opened'][number] ? Kind : never;
}[BreakKind];
export type LineBreakKind = KindsOpenedFor<'line'>;
export type SettlementBreakKind = KindsOpenedFor<'settlement'>;
export type ExplainingBreakKind = LineBreakKind | SettlementBreakKind;
export type DeadlineBreakKind = KindsOpenedFor<'deadline'>;
export type StatementBreakKind = KindsOpenedFor<'statement'>;
export type FoundBreakKind = KindsOpenedFor<'deadline' | 'contradiction' | 'operation'>;
/** The kinds whose lines rules may explain. */
export type RuleBreakKind = {
  [Kind in LineBreakKind]: Kinds[Kind]['decidedByRules'] extends 'never' ? never : Kind;
}[LineBreakKind];

const declarations = Object.entries(breakKinds) as [BreakKind, BreakKindDeclaration][];

function kindsWhere(holds: (declaration: BreakKindDeclaration) => boolean): BreakKind[] {
  return declarations.filter(([, declaration]) => holds(declaration)).map(([kind]) => kind);
}

function kindsOpenedFor(...some: readonly OpenedFor[]): readonly string[] {
  return kindsWhere(({ opened }) =>
    some.some((one) => (opened as readonly string[]).includes(one)),
  );
}

/** Breaks of lines without an explanation. */
export const lineBreakKinds = kindsOpenedFor('line');

/** Breaks of the payments of charges, whose lines are matched. */
export const settlementBreakKinds = kindsOpenedFor('settlement');

/** While a break of these kinds is open, its line counts as in a break, even if it is matched. */
export const explainingBreakKinds = kindsOpenedFor('line', 'settlement');

/** Breaks of payments and bills whose deadline has passed. */
export const deadlineBreakKinds = kindsOpenedFor('deadline');

/** Breaks of payments that contradict a conclusion; a break of an operation is one of these too. */
export const contradictionBreakKinds = kindsOpenedFor('contradiction');

/** Breaks of operations themselves. */
export const operationBreakKinds = kindsOpenedFor('operation');

/** The kinds of breaks that a decision opens. */
export const decidedBreakKinds = kindsOpenedFor(
  ...(['line', 'settlement', 'deadline', 'contradiction', 'operation'] as const),
);

/** The kinds of breaks of the statement itself, which are opened again each time. */
export const statementBreakKinds = kindsOpenedFor('statement');

/** The kinds that no decision of a component opens, and that are opened again by their causes. */
export const reopenedBreakKinds = kindsOpenedFor('statement', 'fees');

/** The kinds whose lines rules may explain: always, or only among their own candidates. */
export const ruleBreakKinds = (may: 'always' | 'among their candidates'): BreakKind[] =>
  kindsWhere(
    (declaration) => 'decidedByRules' in declaration && declaration.decidedByRules === may,
  );

export const kindsWithSeverityFloor = (severity: 'high' | 'critical'): BreakKind[] =>
  kindsWhere(({ severityAtLeast }) => severityAtLeast === severity);

/** The severity that breaks of this kind have at least. */
export function severityFloorOf(kind: string): BreakKindDeclaration['severityAtLeast'] {
  return declarationOf(kind)?.severityAtLeast ?? 'low';
}

/** How a break of this kind may be refunded; null if it cannot be. */
export function refundOfKind(kind: string): BreakKindDeclaration['refund'] {
  return declarationOf(kind)?.refund ?? null;
}

/** The kinds that a policy may refund, in the order in which they are listed. */
export const policyKinds = kindsWhere(({ refund }) => refund === 'by a person or policy');

/** The name of a kind for people; the kind itself where it is not declared. */
export function nameOfKind(kind: string, language: 'pt' | 'en'): string {
  return declarationOf(kind)?.name[language === 'pt' ? 0 : 1] ?? kind;
}

function declarationOf(kind: string): BreakKindDeclaration | undefined {
  return Object.hasOwn(breakKinds, kind) ? breakKinds[kind as BreakKind] : undefined;
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

/** The amount of a fee: the line itself is explained. */
export function subjectOfFee(nsu: bigint): string {
  return `fee:${nsu}`;
}
