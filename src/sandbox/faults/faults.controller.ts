import { Controller } from '@nestjs/common';
import type { RouteInput } from '../../bank-contract/route.js';
import { Handles, Input } from '../../platform/http/contract-route.js';
import { AppError } from '../../platform/errors.js';
import type { Fault } from './fault.js';
import { addFault, listFaults, removeFault, removeFaults } from './faults.schema.js';
import { Faults } from './faults.service.js';

const defaultSeed = 1;

@Controller()
export class FaultsController {
  constructor(private readonly faults: Faults) {}

  @Handles(addFault)
  add(@Input() { body }: RouteInput<typeof addFault>) {
    const { endpoint, kind, method, times, probability, seed, code, delayMs } = body;
    const fault = this.faults.add({
      endpoint,
      kind,
      method: method ?? null,
      times: times ?? null,
      probability: probability ?? null,
      seed: seed ?? defaultSeed,
      code: code ?? null,
      delayMs: delayMs ?? null,
    });
    return faultResponse(fault);
  }

  @Handles(listFaults)
  list() {
    return { faults: this.faults.list().map(faultResponse) };
  }

  @Handles(removeFaults)
  removeAll() {
    return { removed: this.faults.clear() };
  }

  @Handles(removeFault)
  remove(@Input() { params }: RouteInput<typeof removeFault>) {
    if (!this.faults.remove(params.id)) throw new AppError('not_found');
    return { removed: 1 };
  }
}

function faultResponse(fault: Fault) {
  return { ...fault, method: fault.method ?? null, code: fault.code ?? null };
}
