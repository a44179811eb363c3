import { Controller, Get, UseGuards } from '@nestjs/common';
import { ApiKeyGuard, FromCaller, type CallerInput } from '../../access/accounts/api-key.guard.js';
import { RequiresScope } from '../../access/accounts/scope.decorator.js';
import { Handles, type StreamedReply } from '../../platform/http/contract-route.js';
import { Responds } from '../../platform/http/responses.decorator.js';
import { replyWith } from '../exports/exports.controller.js';
import { exportCertificates, exportDecisions, proveLine } from './proofs.schema.js';
import { Proofs } from './proofs.service.js';

@Controller()
export class ProofsController {
  constructor(private readonly proofs: Proofs) {}

  @UseGuards(ApiKeyGuard)
  @Responds({ status: 422, description: 'The day cannot be proven line by line; see `code`.' })
  @Handles(proveLine)
  async prove(@FromCaller() { accountId, params, query }: CallerInput<typeof proveLine>) {
    return this.proofs.prove(accountId, params.date, query.nsu);
  }

  @UseGuards(ApiKeyGuard)
  @Handles(exportCertificates)
  async export(
    @FromCaller() { accountId }: CallerInput<typeof exportCertificates>,
  ): Promise<StreamedReply> {
    return replyWith(await this.proofs.open(accountId));
  }

  /** The log names who holds rights, and who approved. */
  @UseGuards(ApiKeyGuard)
  @RequiresScope('personal-data')
  @Handles(exportDecisions)
  async exportLog(
    @FromCaller() { accountId }: CallerInput<typeof exportDecisions>,
  ): Promise<StreamedReply> {
    return replyWith(await this.proofs.openDecisions(accountId));
  }

  /** A JWK set. Whoever checks a signature needs the keys, and has no key of ours. */
  @Get('.well-known/jwks.json')
  async keys() {
    return this.proofs.listKeys();
  }
}
