// Every call is inside the bank while its handler works, however its answer is then sent, spoilt or lost.
import {
  Injectable,
  type CallHandler,
  type ExecutionContext,
  type NestInterceptor,
} from '@nestjs/common';
import { finalize, from, mergeMap } from 'rxjs';
import { BankAccess } from './bank-access.service.js';

@Injectable()
export class AccessControl implements NestInterceptor {
  constructor(private readonly door: BankAccess) {}

  intercept(_: ExecutionContext, next: CallHandler) {
    return from(this.door.enter()).pipe(
      mergeMap(() => next.handle().pipe(finalize(() => this.door.leave()))),
    );
  }
}
