// Works the queue `raise-alerts`.
import { Processor, WorkerHost } from '@nestjs/bullmq';
import type { Job } from 'bullmq';
import { jobs, workerOptions, type JobPayload } from '../../platform/queue/queues.js';
import { AlertEvaluator } from './alert-evaluator.service.js';

@Processor(jobs.raiseAlerts.name, workerOptions(jobs.raiseAlerts))
export class RaiseAlertsProcessor extends WorkerHost {
  constructor(private readonly evaluator: AlertEvaluator) {
    super();
  }

  async process({ data }: Job<JobPayload<'raiseAlerts'>>): Promise<void> {
    await this.evaluator.raise(data);
  }
}
