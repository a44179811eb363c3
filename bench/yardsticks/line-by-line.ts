// A reconciliation as a first version is often written: for each line, a transaction with a few
// calls of Prisma's client. It finds a payment by one id, and knows neither refunds nor rules.
import type { Prisma, PrismaClient } from '../../src/generated/service/client.js';
import { newId } from '../../src/platform/ids.js';

/** Decides these lines. Returns lines a second. */
export async function decideLineByLine(
  prisma: PrismaClient,
  accountId: number,
  nsus: bigint[],
): Promise<number> {
  const startedAt = performance.now();
  for (const nsu of nsus) await prisma.$transaction((tx) => decideLine(tx, accountId, nsu));
  return (nsus.length / (performance.now() - startedAt)) * 1_000;
}

async function decideLine(tx: Prisma.TransactionClient, accountId: number, nsu: bigint) {
  const line = await tx.statementLine.findUniqueOrThrow({
    where: { accountId_nsu: { accountId, nsu } },
  });
  const reference = await tx.expectedPaymentReference.findFirst({
    where: line.isCredit
      ? { accountId, kind: 'correlation_id', value: line.correlationId ?? '' }
      : { accountId, kind: 'end_to_end_id', value: line.endToEndId ?? '' },
  });
  const state = reference ? 'matched' : 'in_break';
  if (reference) await pay(tx, line, reference.expectedPaymentId);
  else await openBreak(tx, line);
  await tx.lineOutcome.create({
    data: { accountId, nsu, state, version: 1, leafHash: new Uint8Array(32), sequence: nsu },
  });
  const { position } = await tx.eventPosition.upsert({
    where: { accountId },
    create: { accountId, position: 1 },
    update: { position: { increment: 1 } },
  });
  await tx.event.create({
    data: {
      ...{ accountId, id: newId(), position, sequence: 1 },
      type: reference ? 'charge.paid' : 'break.opened',
      ...{ resourceKind: 'transaction', resourceId: nsu.toString() },
      data: JSON.stringify({ nsu: nsu.toString(), amountCents: line.amountCents.toString() }),
    },
  });
}

type Line = Prisma.StatementLineGetPayload<object>;

async function pay(tx: Prisma.TransactionClient, line: Line, expectedPaymentId: string) {
  const { accountId, nsu, amountCents } = line;
  const key = { accountId_id: { accountId, id: expectedPaymentId } };
  const payment = await tx.expectedPayment.findUniqueOrThrow({ where: key });
  await tx.match.create({
    data: {
      ...{ accountId, id: newId(), nsu, expectedPaymentId, amountCents },
      ...{ owedCents: payment.amountCents, rule: 'reference', evidence: {} },
    },
  });
  await tx.expectedPaymentTotal.update({
    where: { accountId_expectedPaymentId: { accountId, expectedPaymentId } },
    data: { paidCents: amountCents, unrefundedCents: amountCents, settlement: 'settled' },
  });
}

async function openBreak(tx: Prisma.TransactionClient, { accountId, nsu, amountCents }: Line) {
  await tx.break.create({
    data: {
      ...{ accountId, id: newId(), kind: 'unexpected', state: 'open', subject: `nsu:${nsu}` },
      ...{ amountCents, nsu, evidence: {} },
    },
  });
}
