import { Controller, Req } from '@nestjs/common';
import type { FastifyRequest } from 'fastify';
import type { RouteInput } from '../../contract/route.js';
import { Handles, Input } from '../../platform/contract-route.js';
import { CurrentAccount } from '../accounts/api-key.guard.js';
import type { BankAccount } from '../accounts/party.js';
import { generateLines } from './generate.schema.js';
import { Generate } from './generate.service.js';

@Controller()
export class GenerateController {
  constructor(private readonly generate: Generate) {}

  @Handles(generateLines)
  lines(
    @CurrentAccount() account: BankAccount,
    @Input() { body }: RouteInput<typeof generateLines>,
    @Req() request: FastifyRequest,
  ) {
    // A connection that is silent for a minute is cut, and a million lines take longer. Node sets the time anew with
    // the connection's next request.
    request.raw.socket.setTimeout(0);
    return this.generate.generate(account, body);
  }
}
