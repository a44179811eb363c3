import { Controller, Req } from '@nestjs/common';
import type { FastifyRequest } from 'fastify';
import { Handles } from '../../platform/http/contract-route.js';
import { AccountInput, type AccountRequest } from '../accounts/api-key.guard.js';
import { generateLines } from './generate.schema.js';
import { LineGenerator } from './generate.service.js';

@Controller()
export class GenerateController {
  constructor(private readonly generate: LineGenerator) {}

  @Handles(generateLines)
  lines(
    @AccountInput() { account, body }: AccountRequest<typeof generateLines>,
    @Req() request: FastifyRequest,
  ) {
    // The server closes a connection that is silent for a minute, and a million lines take longer.
    // Node restores the timeout with the next request of the connection.
    request.raw.socket.setTimeout(0);
    return this.generate.generate(account, body);
  }
}
