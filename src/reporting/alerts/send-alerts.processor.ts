// Works the queue `send-alerts`.
import { Processor, WorkerHost } from '@nestjs/bullmq';
import type { Job } from 'bullmq';
import { jobs, workerOptions, type JobPayload } from '../../platform/queue/queues.js';
import { AlertNotifications } from './alert-notifications.service.js';

@Processor(jobs.sendAlerts.name, workerOptions(jobs.sendAlerts))
export class SendAlertsProcessor extends WorkerHost {
  constructor(private readonly alertNotifications: AlertNotifications) {
    super();
  }

  async process({ data }: Job<JobPayload<'sendAlerts'>>): Promise<void> {
    await this.alertNotifications.sendDue(data);
  }
}
