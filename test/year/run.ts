// Runs one year: generates it, imports and reconciles it, closes its days, compares the result with
// the correct one, and reconciles everything again.
import type { StatementOrder } from './bank.js';
import { checkYear, type YearCheck } from './check.js';
import { openYearDeployment, type YearDeployment } from './deployment.js';
import { generateYear, type Year, type YearPlan } from './generate.js';
import * as result from './reconciliation-result.js';
import { guardYear } from './guard.js';
import { formatYearReport, type StepDuration } from './report.js';
import { yearSteps } from './steps.js';

export interface YearOptions extends YearPlan {
  /** Imports the same lines again in a shuffled order, and compares both results. */
  shuffle: boolean;
  /** Leaves the database of the first import. */
  keepsDatabase?: boolean;
}

export interface YearOutcome {
  report: string;
  findings: string[];
}

type Progress = (message: string) => void;

/** How long lines may be pending, and gaps be open, after all lines are visible. */
const reconciliationTimeoutMs = 120_000;

export async function runYear(options: YearOptions, progress: Progress): Promise<YearOutcome> {
  const year = generateYear(options);
  const { lines, builder } = year;
  progress(`Generated ${lines.length} lines and ${builder.payments.length} expected payments`);
  const first = await importAndCheck(year, 'desc', progress, options.keepsDatabase);
  const findings = [...first.findings];
  if (options.shuffle) {
    const second = await importAndCheck(year, 'shuffled', progress);
    const differences = result.listRowDifferences(first.rows, second.rows);
    findings.push(
      ...differences.map((row) => `the shuffled order gives a different result: ${row}`),
    );
  }
  const { check, guard, durations } = first;
  return { report: formatYearReport({ options, check, guard, durations, findings }), findings };
}

interface ImportedYear {
  check: YearCheck;
  guard: string;
  findings: string[];
  durations: StepDuration[];
  /** The result, one text for each row. */
  rows: string[];
}

async function importAndCheck(
  year: Year,
  order: StatementOrder,
  progress: Progress,
  keepsDatabase = false,
): Promise<ImportedYear> {
  const durations: StepDuration[] = [];
  const lines = year.lines.length;
  const measure = async <Result>(step: string, work: () => Promise<Result>) => {
    const startedAt = Date.now();
    const value = await work();
    const seconds = (Date.now() - startedAt) / 1_000;
    durations.push({ step, lines, seconds });
    progress(`Order ${order}: ${step} (${seconds.toFixed(1)} s)`);
    return value;
  };
  const deployment = await measure('insert initial data', () =>
    openYearDeployment(year, order, keepsDatabase),
  );
  try {
    await measure('sync visible lines', deployment.sync);
    await measure('decide visible lines', deployment.reconcile);
    deployment.bank.showAll();
    await measure('sync and decide late lines', () => reconcileAll(deployment, lines));
    const guard = await measure('guard', () => guardYear(deployment, year));
    const stepFindings = guard.findings;
    for (const [name, step] of Object.entries(yearSteps)) {
      const findings = await measure(name, () => step(deployment, year));
      stepFindings.push(...findings.map((finding) => `${name}: ${finding}`));
    }
    const { pool, accountId } = deployment;
    const check = await measure('compare with the correct result', async () =>
      checkYear(year, {
        lines: await result.readReconciledLines(pool, accountId),
        payments: await result.readReconciledPayments(pool, accountId),
        totals: await result.readStatementTotals(pool, accountId),
      }),
    );
    const changes = await measure('sync and decide everything again', () =>
      reconcileAgain(deployment),
    );
    const rows = await result.readResultRows(pool, accountId);
    const findings = [...check.findings, ...stepFindings, ...changes];
    return { check, guard: guard.summary, findings, durations, rows };
  } finally {
    await deployment.close();
  }
}

/**
 * Syncs and reconciles until every line is stored, the balance chain has no gap and no line is
 * pending. After the timeout the checker reports what is missing.
 */
async function reconcileAll(deployment: YearDeployment, lines: number): Promise<void> {
  const giveUpAt = Date.now() + reconciliationTimeoutMs + lines;
  while (Date.now() < giveUpAt) {
    await deployment.sync();
    await deployment.reconcile();
    const totals = await result.readStatementTotals(deployment.pool, deployment.accountId);
    if (totals.isWithoutGaps && totals.pendingLines === 0 && totals.lines === lines) return;
    await new Promise((resolve) => setTimeout(resolve, 500));
  }
}

/** A finding for each row that changes when the same statement is reconciled twice more. */
async function reconcileAgain(deployment: YearDeployment): Promise<string[]> {
  const { pool, accountId } = deployment;
  const before = await result.readHistoryRows(pool, accountId);
  for (let time = 0; time < 2; time += 1) {
    await deployment.sync();
    await deployment.reconcile();
  }
  const after = await result.readHistoryRows(pool, accountId);
  return result
    .listRowDifferences(before, after)
    .map((row) => `reconciling again changes the result: ${row}`);
}
