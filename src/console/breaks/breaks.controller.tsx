// The list of breaks. Its filters stand in the address, and a break that is opened from it keeps
// them: after it is resolved, the next one of the same list opens.
import { Controller } from '@nestjs/common';
import { ConsolePage, Visiting } from '../serving/console-page.decorator.js';
import type { PageAnswer } from '../page.js';
import type { Visit } from '../visit.js';
import { BreakQueue } from './break-queue.service.js';

@Controller()
export class BreakPages {
  constructor(private readonly queue: BreakQueue) {}

  @ConsolePage('breaks', 'view', { title: 'section.breaks', section: 'breaks', place: 20 })
  list(@Visiting() visit: Visit): Promise<PageAnswer> {
    return this.queue.show(visit);
  }
}
