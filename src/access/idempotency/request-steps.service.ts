// The steps of one long request. Its process may be suspended for longer than its lease, and
// another process then does the request too: each step is done once, and both get the same results.
import { Database, type Db, type Tx } from '../../platform/postgres/database.service.js';
import * as queries from './idempotency.queries.js';

export class RequestSteps {
  /** `claimed` is null for a request without a key: nothing can repeat it. */
  constructor(
    private readonly database: Database,
    private readonly claimed: queries.ClaimedKey | null,
    private readonly leaseMs: number,
  ) {}

  /**
   * Records a step as done, in the transaction of its effect. False if it was done before: then the
   * transaction must have no effect.
   */
  async record(tx: Tx, step: string, result: unknown): Promise<boolean> {
    return this.insert(tx, step, result);
  }

  /**
   * Does a step and returns its result. A step that was done is not begun again; `work` records the
   * step itself where it has an effect that must not happen twice.
   */
  async once<Result>(step: string, work: () => Promise<Result>): Promise<Result> {
    const done = await this.find<Result>(step);
    if (done) return done.result;
    const result = await work();
    if (await this.insert(this.database.prisma, step, result)) return result;
    return (await this.find<Result>(step))!.result;
  }

  private async insert(db: Db, step: string, result: unknown): Promise<boolean> {
    const { claimed, leaseMs } = this;
    return !claimed || queries.insertStep(db, claimed, { step, result, leaseMs });
  }

  private async find<Result>(step: string): Promise<{ result: Result } | null> {
    if (!this.claimed) return null;
    const { claim: _, ...recordKey } = this.claimed;
    const found = await this.database.prisma.idempotentStep.findUnique({
      where: { accountId_route_key_step: { ...recordKey, step } },
    });
    return found as { result: Result } | null;
  }
}
