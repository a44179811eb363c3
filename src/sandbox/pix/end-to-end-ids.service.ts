// Makes the ids by which Pix and their returns are known.
import { Injectable } from '@nestjs/common';
import { buildEndToEndId, type EndToEndId } from '../../brazil/end-to-end-id.js';
import { BankClock } from '../clock/bank-clock.service.js';
import { Random } from '../random.service.js';

@Injectable()
export class EndToEndIds {
  constructor(
    private readonly clock: BankClock,
    private readonly random: Random,
  ) {}

  /** A new id of the institution's: E names a payment, D its return. */
  next(kind: EndToEndId['kind'], ispb: string): string {
    const sequence = this.random.letters(11);
    return buildEndToEndId({ kind, ispb, at: this.clock.now(), sequence });
  }
}
