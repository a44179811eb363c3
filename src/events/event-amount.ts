// Amounts as events tell them: exact JSON numbers in reais.
import { LosslessNumber } from 'lossless-json';
import { formatReais } from '../money/cents.js';

export function eventAmount(cents: bigint): LosslessNumber {
  return new LosslessNumber(formatReais(cents));
}
