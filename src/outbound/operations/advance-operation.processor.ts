// Works the queue `advance-operation`.
import { Processor, WorkerHost } from '@nestjs/bullmq';
import type { Job } from 'bullmq';
import { jobs, workerOptions, type JobPayload } from '../../platform/queue/queues.js';
import { OperationRecovery } from './operation-recovery.service.js';

@Processor(jobs.advanceOperation.name, workerOptions(jobs.advanceOperation))
export class AdvanceOperationProcessor extends WorkerHost {
  constructor(private readonly operationRecovery: OperationRecovery) {
    super();
  }

  async process({ data }: Job<JobPayload<'advanceOperation'>>): Promise<void> {
    await this.operationRecovery.advance(data);
  }
}
