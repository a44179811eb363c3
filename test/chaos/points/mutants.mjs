// Faults that are put into a service on purpose, into the text of a built module when it is loaded:
// each breaks one promise of how money is moved, and the auditor must find it.
const operations = 'outbound/operations';
const refund = 'PUT /baas/api/v1/transactions/{id}/refund';

/**
 * `edits` are exact texts and what stands for them. Where `kills` names no points, the scenario
 * runs several times and nothing is killed.
 */
export const mutants = {
  'a repeat gets a new key': {
    file: `${operations}/operation-sender.service.js`,
    edits: [['idempotencyKey: id\n', 'idempotencyKey: crypto.randomUUID()\n']],
    scenario: 'manual',
    finding: /debits, expected|not the id of an operation/,
  },
  'the key of the request is not stored': {
    file: `${operations}/operation-storage.service.js`,
    edits: [
      ['        identity.identitiesWrite(accountId, requests),\n', ''],
      ['await identity.claimIdentities(tx, newOperation, identities)', 'true'],
    ],
    scenario: 'internal',
    kills: ['after POST /baas/api/v2/transfers › call POST /baas/api/v2/transfers'],
    finding: /the last response refused \(409 possible_duplicate\); the operation succeeded/,
  },
  'an error of the bank is a failure': {
    file: 'bank/response-classification.js',
    edits: [["if (status >= 500) return 'bank_error';", "if (status >= 500) return 'rejection';"]],
    scenario: 'manual',
    finding: /debits, expected 0; the operation is rejected/,
  },
  'a lost response means that nothing was sent': {
    file: `${operations}/operation-sender.service.js`,
    edits: [
      ["const hasLeft = reason !== 'not_sent' || from === 'unknown';", 'const hasLeft = false;'],
    ],
    scenario: 'refund',
    finding: /2 debits, expected 1/,
  },
  'an interrupted attempt is sent again as if it were the first': {
    file: `${operations}/operation-sender.service.js`,
    edits: [
      [
        "withoutResponse('unknown', 'interrupted', 0)",
        "withoutResponse('received', 'interrupted', 0)",
      ],
    ],
    scenario: 'refund',
    kills: [`after ${refund} › call ${refund}`],
    finding: /2 debits, expected 1/,
  },
  'a refund is sent again although the bank knows no key of it': {
    file: `${operations}/recovery.js`,
    edits: [["operation.repeat === 'keyed' && ", '']],
    scenario: 'refund',
    finding: /2 debits, expected 1/,
  },
  'a lost job is not enqueued again': {
    file: `${operations}/operation-recovery.service.js`,
    edits: [
      ['await this.enqueue(await queries.listDueOperations(this.database.prisma, 200));', ''],
    ],
    scenario: 'internal',
    kills: [
      'after POST /baas/api/v2/transfers › OperationStorage.findOrStoreInTransaction › commit',
    ],
    finding: /is still received/,
  },
  'an event is written outside the transaction of its fact': {
    file: 'events/events.service.js',
    edits: [
      [
        'beforeCommit(tx, ()=>insertByAccount(tx, ofTransaction));',
        'afterCommit(tx, ()=>void this.database.transaction((other)=>insertByAccount(other, ofTransaction)));',
      ],
    ],
    scenario: 'internal',
    kills: ['after job advance-operation › OperationOutcomes.record › commit'],
    finding: /0 events/,
  },
  'an event counts as delivered before it is sent': {
    file: 'events/events.queries.js',
    edits: [
      ['SET attempts = d.attempts + 1,', "SET state = 'delivered', attempts = d.attempts + 1,"],
    ],
    scenario: 'internal',
    kills: ['after job deliver-events › claimDeliveries › write delivery'],
    finding: /was not delivered/,
  },
  'a repeated delivery has another id': {
    file: 'events/delivery.service.js',
    edits: [['id: delivery.eventId,', 'id: crypto.randomUUID(),']],
    scenario: 'sync',
    finding: /is not listed/,
  },
};

let chosen;

export function initialize(name) {
  chosen = mutants[name];
}

/** A hook of Node.js: the text of the chosen module with the edits. */
export async function load(url, context, next) {
  const loaded = await next(url, context);
  if (!url.endsWith(`/dist/${chosen.file}`)) return loaded;
  const source = chosen.edits.reduce((text, [from, to]) => {
    if (text.split(from).length !== 2) throw new Error(`${chosen.file} has not one ${from}`);
    return text.replace(from, () => to);
  }, loaded.source.toString());
  return { ...loaded, source };
}
