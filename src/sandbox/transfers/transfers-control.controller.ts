import { Controller } from '@nestjs/common';
import type { RouteInput } from '../../bank-contract/route.js';
import { Handles, Input } from '../../platform/http/contract-route.js';
import { AccountInput, type AccountRequest } from '../accounts/api-key.guard.js';
import { DictKeys } from './dict-keys.service.js';
import { ReturnedPixes } from './returned-pixes.service.js';
import { registerDictKey, returnSentPix } from './transfers-control.schema.js';

@Controller()
export class SandboxTransfersControlController {
  constructor(
    private readonly dictKeys: DictKeys,
    private readonly returnedPixes: ReturnedPixes,
  ) {}

  @Handles(registerDictKey)
  registerKey(@Input() { body }: RouteInput<typeof registerDictKey>) {
    return this.dictKeys.register(body);
  }

  @Handles(returnSentPix)
  returnPix(@AccountInput() { account, body }: AccountRequest<typeof returnSentPix>) {
    return this.returnedPixes.receive(account, body);
  }
}
