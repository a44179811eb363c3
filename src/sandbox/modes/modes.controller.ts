import { Controller } from '@nestjs/common';
import type { RouteInput } from '../../bank-contract/route.js';
import { Handles, Input } from '../../platform/http/contract-route.js';
import { changeModes, readModes } from './modes.schema.js';
import { Modes } from './modes.service.js';

@Controller()
export class ModesController {
  constructor(private readonly modes: Modes) {}

  @Handles(readModes)
  read() {
    return this.modes.current;
  }

  @Handles(changeModes)
  change(@Input() { body }: RouteInput<typeof changeModes>) {
    return this.modes.change(body);
  }
}
