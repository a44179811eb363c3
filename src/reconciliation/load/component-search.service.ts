// Finds the components of the due subjects: follows what connects lines and expected payments, and
// holds the facts found so far. Each line and payment is read once.
import { mayRefundPix } from '../../bank-contract/line-types.js';
import {
  sharedReferenceKinds,
  type Reference,
} from '../../statement/expected-payments/references.js';
import {
  maxPossibleOriginals,
  type PossibleOriginal,
} from '../../statement/expected-payments/refunds-by-payer.js';
import { findPossibleOriginals } from '../../statement/expected-payments/refunds-by-payer.queries.js';
import { addToPair, PairMap } from '../../platform/pair-map.js';
import type { Reader } from '../../platform/postgres/database.service.js';
import * as links from './component.queries.js';
import { lineReferences } from '../decide/component.js';
import { listManualLinks } from './line-decisions.queries.js';
import { listLines, type LoadedLine } from './line-facts.queries.js';
import { listPaymentFacts, type LoadedPayment } from './payment-facts.queries.js';

/** The debits that may refund a Pix and do not name it. */
export const unnamedRefundsOf = (lines: readonly LoadedLine[]): bigint[] =>
  lines
    .filter((line) => !line.isCredit && line.originalEndToEndId === null)
    .filter(({ typeName }) => mayRefundPix(typeName))
    .map(({ nsu }) => nsu);

const isShared = ({ kind }: Reference): boolean => sharedReferenceKinds.includes(kind);

/** How many of these payments each reference names. */
export function countReferences(payments: readonly LoadedPayment[]): PairMap<number> {
  const counts = new PairMap<number>();
  for (const { references } of payments)
    for (const { kind, value } of references)
      counts.set(kind, value, (counts.get(kind, value) ?? 0) + 1);
  return counts;
}

/** A reference that names too many payments names none of them. */
export function withKnownReferences(
  payment: LoadedPayment,
  counts: Pick<PairMap<number>, 'get'>,
): LoadedPayment {
  const isKnown = (one: Reference) =>
    isShared(one) || (counts.get(one.kind, one.value) ?? 0) <= links.maxNamed;
  if (payment.references.every(isKnown)) return payment;
  return { ...payment, references: payment.references.filter(isKnown) };
}

export class ComponentSearch {
  readonly ids: links.ComponentIds = {
    nsus: new Set(),
    expectedPaymentIds: new Set(),
    operationIds: new Set(),
  };
  private readonly lines: LoadedLine[] = [];
  private readonly possibleOriginals = new Map<bigint, PossibleOriginal[]>();
  private readonly paymentById = new Map<string, LoadedPayment>();
  /** How many payments each reference names, up to 51. */
  private readonly counts = new PairMap<number>();
  /** The payments that each reference of a line names. */
  private readonly namedBy = new PairMap<string[]>();
  /** What was looked up already, by purpose: each key once. */
  private readonly lookedUp = new Map<string, Set<string>>();
  /** The references of which the payments, the lines and the number of payments were looked up. */
  private readonly references = {
    payments: new PairMap<true>(),
    lines: new PairMap<true>(),
    counts: new PairMap<true>(),
  };

  constructor(
    private readonly db: Reader,
    private readonly accountId: number,
    private readonly options: links.LoadOptions,
  ) {}

  get found() {
    const { lines, possibleOriginals } = this;
    const payments = [...this.paymentById.values()];
    const expectedPayments = payments.map((one) => withKnownReferences(one, this.counts));
    return { lines, expectedPayments, possibleOriginals };
  }

  /** Whether another system has declared one of the payments found. */
  get hasDeclared(): boolean {
    return [...this.paymentById.values()].some(({ declared }) => declared !== null);
  }

  /** Adds everything connected with the seeds, directly or indirectly. Whether any was new. */
  async extend({
    nsus,
    expectedPaymentIds,
    operationIds = [],
  }: links.ComponentSeeds): Promise<boolean> {
    let newNsus = addAll(this.ids.nsus, nsus);
    let newIds = addAll(this.ids.expectedPaymentIds, expectedPaymentIds);
    addAll(this.ids.operationIds, operationIds);
    const isNew = newNsus.length + newIds.length > 0;
    while (newNsus.length + newIds.length > 0) {
      const lines = await listLines(this.db, this.accountId, this.options, newNsus);
      this.lines.push(...lines);
      const ofLines = await this.followLines(lines);
      const named = addAll(this.ids.expectedPaymentIds, ofLines.expectedPaymentIds);
      const payments = await this.loadPayments([...newIds, ...named]);
      payments.push(...(await this.loadUnconfirmed(lines)));
      const ofPayments = await this.followPayments(payments);
      newNsus = addAll(this.ids.nsus, [...ofLines.nsus, ...ofPayments.nsus]);
      newIds = addAll(this.ids.expectedPaymentIds, ofPayments.expectedPaymentIds);
    }
    return isNew;
  }

  private async loadPayments(ids: readonly string[]): Promise<LoadedPayment[]> {
    const payments = await listPaymentFacts(this.db, this.accountId, this.options, ids);
    for (const payment of payments) this.paymentById.set(payment.id, payment);
    return payments;
  }

  private async followLines(lines: readonly LoadedLine[]): Promise<links.ComponentSeeds> {
    if (lines.length === 0) return { nsus: [], expectedPaymentIds: [] };
    const { db, accountId } = this;
    const references = takeNewOf(this.references.payments, lines.flatMap(idsOf));
    const endToEndIds = lines.flatMap((line) => line.endToEndId ?? []);
    const named = lines.flatMap((line) => line.originalEndToEndId ?? []);
    const decided = lines.filter(({ version }) => version !== null).map(({ nsu }) => nsu);
    const byPeople = lines.filter(({ hasDecisions }) => hasDecisions).map(({ nsu }) => nsu);
    const [found, matched, linked, possible] = await Promise.all([
      links.listLinksOfLines(db, accountId, {
        references,
        endToEndIds: this.takeNew('lines with', [...endToEndIds, ...named], String),
        originals: this.takeNew('lines returning', endToEndIds, String),
        nsus: lines.map(({ nsu }) => nsu),
        credits: lines.filter(({ isCredit }) => isCredit).map(({ nsu }) => nsu),
      }),
      links.listMatchedPayments(db, accountId, decided),
      listManualLinks(db, accountId, new Set(byPeople)),
      findPossibleOriginals(db, accountId, unnamedRefundsOf(lines)),
    ]);
    const ofPayers: bigint[] = [];
    for (const [nsu, originals] of possible) {
      this.possibleOriginals.set(nsu, originals);
      if (originals.length <= maxPossibleOriginals)
        ofPayers.push(...originals.map((one) => one.nsu));
    }
    const payments = this.addNamed(references, found);
    const ofRefunds = found.flatMap((one) =>
      one.kind === null ? (one.expectedPaymentId ?? []) : [],
    );
    const originals = linked.flatMap(({ refundOf }) => refundOf);
    return {
      nsus: [
        ...found.flatMap(({ nsu }) => nsu ?? []),
        ...originals.map(({ originalNsu }) => originalNsu),
        ...ofPayers,
      ],
      expectedPaymentIds: [
        ...[...payments, ...ofRefunds, ...matched],
        ...originals.flatMap(({ expectedPaymentId }) => expectedPaymentId ?? []),
        ...linked.flatMap(({ allocations }) =>
          allocations.map(({ expectedPaymentId }) => expectedPaymentId),
        ),
      ],
    };
  }

  /** Stores which payments these references name, and returns them: none of those with too many. */
  private addNamed(references: readonly Reference[], found: readonly links.LinkOfLine[]): string[] {
    for (const { kind, value, expectedPaymentId } of found)
      if (kind !== null && value !== null && expectedPaymentId !== null)
        addToPair(this.namedBy, kind, value, expectedPaymentId);
    const named: string[] = [];
    for (const { kind, value } of references) {
      const ids = this.namedBy.get(kind, value) ?? [];
      this.counts.set(kind, value, ids.length);
      if (ids.length <= links.maxNamed) named.push(...ids);
    }
    return named;
  }

  /**
   * A debit may be a payment of an open operation, by its amount alone. One that pays
   * what its ids name is no other: else each would load all that was sent of its amount.
   */
  private async loadUnconfirmed(lines: readonly LoadedLine[]): Promise<LoadedPayment[]> {
    const open = lines.filter((line) => !line.isCredit && !this.isDecidedByIds(line));
    const amounts = this.takeNew(
      'sent',
      open.map(({ amountCents }) => amountCents),
      String,
    );
    const { db, accountId } = this;
    const found = await Promise.all([
      links.listUnconfirmedPayments(db, accountId, amounts),
      links.listOpenDebits(
        db,
        accountId,
        open.map(({ nsu }) => nsu),
      ),
    ]);
    return this.loadPayments(addAll(this.ids.expectedPaymentIds, found.flat()));
  }

  /**
   * Whether the ids of a debit decide it, whatever else is known: they name a debit that it may
   * pay. What the bank rejected, it may not pay; nor what a person may have separated it from.
   */
  private isDecidedByIds(line: LoadedLine): boolean {
    if (line.hasDecisions) return false;
    const named = idsOf(line)
      .map(({ kind, value }) => this.namedBy.get(kind, value) ?? [])
      .filter((ids) => ids.length <= links.maxNamed);
    return named.flat().some((id) => {
      const payment = this.paymentById.get(id);
      return payment !== undefined && !payment.isCredit && !payment.wasRejected;
    });
  }

  private async followPayments(payments: readonly LoadedPayment[]): Promise<links.ComponentSeeds> {
    if (payments.length === 0) return { nsus: [], expectedPaymentIds: [] };
    const { db, accountId } = this;
    const connecting = payments.filter((one) => !isCode(one));
    const debits = connecting.filter(({ isCredit }) => !isCredit);
    // A batch has a thousand payments of one amount, with which the same lines compete.
    const sent = this.takeNew(
      'competing',
      debits.filter((one) => one.isWithoutResponse || one.isDetached).flatMap(sentAmountOf),
      ({ operationId, amountCents }) => `${operationId} ${amountCents}`,
    );
    const withdrawn = payments.filter(({ hasFacts }) => hasFacts);
    const operationIds = this.takeNew(
      'siblings of',
      withdrawn.flatMap(({ operationId }) => operationId ?? []),
      String,
    );
    const [found, competing, siblings] = await Promise.all([
      links.listLinksOfPayments(db, accountId, {
        references: this.takeReferences(payments),
        expectedPaymentIds: connecting.map(({ id }) => id),
        openAmounts: this.takeNew('open', debits.flatMap(amountOf), String),
      }),
      links.listCompetingDebits(db, accountId, sent, this.options.effectMs),
      links.listWithdrawnPayments(db, accountId, operationIds),
    ]);
    for (const { kind, value, named } of found)
      if (kind !== null && value !== null && named !== null) this.counts.set(kind, value, named);
    return {
      nsus: [
        ...found.flatMap(({ nsu }) => nsu ?? []),
        ...connecting.flatMap(({ refundOfNsu }) => refundOfNsu ?? []),
        ...competing,
      ],
      // One break reports all late lines of an operation.
      expectedPaymentIds: siblings,
    };
  }

  /** The references that were not looked up yet. A multi-use QR code connects nothing. */
  private takeReferences(payments: readonly LoadedPayment[]): links.CountedReference[] {
    const ofCodes = payments.filter(isCode).flatMap(ownReferences);
    const ofOthers = payments.filter((payment) => !isCode(payment)).flatMap(ownReferences);
    const counted = (isFollowed: boolean) => (one: Reference) => ({
      kind: one.kind,
      value: one.value,
      isFollowed,
      named: this.counts.get(one.kind, one.value) ?? null,
    });
    return [
      ...takeNewOf(this.references.lines, ofOthers).map(counted(true)),
      ...takeNewOf(this.references.counts, ofCodes).map(counted(false)),
    ];
  }

  /** Those that were not looked up yet for this purpose. */
  private takeNew<Value>(
    purpose: string,
    values: readonly Value[],
    textOf: (value: Value) => string,
  ): Value[] {
    let seen = this.lookedUp.get(purpose);
    if (!seen) this.lookedUp.set(purpose, (seen = new Set()));
    const fresh: Value[] = [];
    for (const value of values) {
      const before = seen.size;
      seen.add(textOf(value));
      if (seen.size > before) fresh.push(value);
    }
    return fresh;
  }
}

/** Those that are not in the map yet, where they are from then on. */
function takeNewOf(seen: PairMap<true>, references: readonly Reference[]): Reference[] {
  return references.filter(({ kind, value }) => {
    if (seen.get(kind, value)) return false;
    seen.set(kind, value, true);
    return true;
  });
}

/** Without those that several payments may share. */
const ownReferences = ({ references }: LoadedPayment): Reference[] =>
  references.filter((one) => !isShared(one));

const isCode = ({ isCredit, isMultiUse }: LoadedPayment): boolean => isCredit && isMultiUse;

const amountOf = ({ amountCents }: LoadedPayment): bigint[] =>
  amountCents === null ? [] : [amountCents];

function sentAmountOf({ operationId, operationState, amountCents }: LoadedPayment) {
  if (amountCents === null || operationId === null || operationState === null) return [];
  return [{ operationId, amountCents }];
}

/** The references of a line. A credit may name the sent Pix that it returns. */
function idsOf(line: LoadedLine): Reference[] {
  const { isCredit, originalEndToEndId: value } = line;
  const own = [...lineReferences(line), ...line.reported];
  return isCredit && value !== null ? [...own, { kind: 'end_to_end_id', value }] : own;
}

/** Adds the values and returns those that were new. */
function addAll<Value>(known: Set<Value>, values: readonly Value[]): Value[] {
  const fresh: Value[] = [];
  for (const value of values) {
    if (known.has(value)) continue;
    known.add(value);
    fresh.push(value);
  }
  return fresh;
}
