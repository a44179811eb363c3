// The account's own rules, held against lines that no id explains.
import { Injectable } from '@nestjs/common';
import type { Tx } from '../database.service.js';
import type { Verdict } from './judged.js';
import type { ArrivedLine } from './verdicts.queries.js';

@Injectable()
export class DeclaredRules {
  /** The verdicts, with those that a rule knows better in their place. */
  apply(
    _tx: Tx,
    _accountId: number,
    _lines: ArrivedLine[],
    verdicts: Verdict[],
  ): Promise<Verdict[]> {
    return Promise.resolve(verdicts);
  }
}
