// The steps of an account's severities. Each change is a row of its own; the last one counts.
import { Injectable } from '@nestjs/common';
import type { RouteOutput } from '../../bank-contract/route.js';
import { Database } from '../../platform/postgres/database.service.js';
import { listStepsChanges } from './severity.queries.js';
import type { getSeveritySteps, SeverityStepsBody } from './severity-steps.schema.js';
import { defaultSeveritySteps, type SeveritySteps } from './severity.js';

const maxChangesShown = 100;

@Injectable()
export class SeveritySettings {
  constructor(private readonly database: Database) {}

  async change(accountId: number, change: SeverityStepsBody, actor: string) {
    const { amounts: amountSteps, businessDays: ageSteps, reason } = change;
    await this.database.prisma.severityStepsChange.create({
      data: { accountId, amountSteps, ageSteps, actor, reason },
    });
    return this.get(accountId);
  }

  async get(accountId: number): Promise<RouteOutput<typeof getSeveritySteps>> {
    const changes = await listStepsChanges(this.database.prisma, accountId, maxChangesShown);
    return {
      ...describeSteps(changes[0] ?? defaultSeveritySteps),
      changes: changes.map(({ createdAt: at, sequence, actor, reason, ...steps }) => ({
        ...describeSteps(steps),
        ...{ sequence, actor, reason, at },
      })),
    };
  }
}

function describeSteps({ amountSteps, ageSteps }: SeveritySteps) {
  return { amounts: [...amountSteps], businessDays: [...ageSteps] };
}
