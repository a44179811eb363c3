import { JobProcessor, Processes } from '../platform/job-processor.js';
import type { JobPayload } from '../queues.js';
import { BulkService } from './bulk.service.js';

@Processes('advanceBulk')
export class AdvanceBulkProcessor extends JobProcessor<'advanceBulk'> {
  constructor(private readonly bulk: BulkService) {
    super();
  }

  protected async run({ accountId, uploadId }: JobPayload<'advanceBulk'>): Promise<void> {
    await this.bulk.advance(accountId, uploadId);
  }
}
