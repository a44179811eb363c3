// Loads the components of due subjects, together with what competes with them by the account's
// match rules.
import { Injectable } from '@nestjs/common';
import { BankService } from '../bank/bank.service.js';
import type { Tx } from '../database.service.js';
import { extendComponent, type ComponentIds, type ComponentSeeds } from './component.queries.js';
import { decide, type Decision } from './decide/decide.js';
import { loadOptionsOf } from './load-options.js';
import { loadFacts } from './load.queries.js';
import type { Facts } from './decide/model.js';
import { listGroupLines, listGroupPayments } from './rules/rule-groups.queries.js';
import { findPossibleIds, reachOf, type Reach } from './decide/rule.js';
import { noteReferenceKinds } from '../expected-payments/references.js';

export interface DecidedComponent {
  facts: Facts;
  decision: Decision;
}

@Injectable()
export class Components {
  constructor(private readonly bank: BankService) {}

  async decide(tx: Tx, accountId: number, seeds: ComponentSeeds): Promise<DecidedComponent> {
    const options = loadOptionsOf(this.bank.profile);
    const found: ComponentIds = {
      nsus: new Set(),
      expectedPaymentIds: new Set(),
      operationIds: new Set(),
    };
    const seen = new SeenKeys();
    for (let more: ComponentSeeds = seeds; ;) {
      await extendComponent(tx, accountId, found, more, options.effectMs);
      const facts = await loadFacts(tx, accountId, options, found);
      const competing = await this.findCompeting(tx, accountId, facts, seen);
      const isNew =
        competing.nsus.some((nsu) => !found.nsus.has(nsu)) ||
        competing.expectedPaymentIds.some((id) => !found.expectedPaymentIds.has(id));
      if (!isNew) return { facts, decision: decide(facts) };
      more = competing;
    }
  }

  /** What shares a document or a word with the lines and open payments of the component. */
  private async findCompeting(
    tx: Tx,
    accountId: number,
    facts: Facts,
    seen: SeenKeys,
  ): Promise<ComponentSeeds> {
    const reach = reachOf(facts.rules);
    if (!reach.byDocument && !reach.byNotes) return { nsus: [], expectedPaymentIds: [] };
    const ofLines = keysOfLines(facts, reach);
    const ofPayments = keysOfPayments(facts, reach);
    return {
      expectedPaymentIds: await listGroupPayments(tx, accountId, seen.takeLines(ofLines)),
      nsus: await listGroupLines(tx, accountId, seen.takePayments(ofPayments)),
    };
  }
}

interface Keys {
  documents: string[];
  words: string[];
}

/** Lines that leave a group count too: others may have waited for their outcome. */
function keysOfLines({ lines }: Facts, reach: Reach): Keys {
  const covered = lines.filter((line) => reach.covers(toReachable(line)));
  return {
    documents: reach.byDocument ? covered.flatMap((line) => line.counterpartyDocument ?? []) : [],
    words: reach.byNotes ? covered.flatMap(({ notes }) => findPossibleIds(notes)) : [],
  };
}

const toReachable = (line: Facts['lines'][number]) => ({
  ...line,
  isRefundOrReversal: line.originalEndToEndId !== null,
  firstRefundedAt: null,
  unlinkedFrom: [],
});

/** A payment that a line pays now competes too: others may have waited for its outcome. */
function keysOfPayments({ expectedPayments }: Facts, reach: Reach): Keys {
  return {
    documents: reach.byDocument
      ? expectedPayments.flatMap((one) => one.counterpartyDocument ?? [])
      : [],
    words: reach.byNotes
      ? expectedPayments.flatMap(({ references }) =>
          references
            .filter(({ kind }) => noteReferenceKinds.includes(kind))
            .map(({ value }) => value),
        )
      : [],
  };
}

/** Each document and word is looked up once. */
class SeenKeys {
  private readonly ofLines = { documents: new Set<string>(), words: new Set<string>() };
  private readonly ofPayments = { documents: new Set<string>(), words: new Set<string>() };

  takeLines = (keys: Keys): Keys => take(this.ofLines, keys);
  takePayments = (keys: Keys): Keys => take(this.ofPayments, keys);
}

function take(seen: { documents: Set<string>; words: Set<string> }, keys: Keys): Keys {
  const fresh = (known: Set<string>, values: string[]) => {
    const unseen = [...new Set(values)].filter((value) => !known.has(value));
    for (const value of unseen) known.add(value);
    return unseen;
  };
  return {
    documents: fresh(seen.documents, keys.documents),
    words: fresh(seen.words, keys.words),
  };
}
