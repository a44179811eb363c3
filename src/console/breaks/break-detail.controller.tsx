// One break: what happened, what it is compared with, what a person may do about it, its history,
// its comments, and what happened before with the same counterparty.
import { Controller } from '@nestjs/common';
import { AppError } from '../../platform/errors.js';
import { BreakActions } from '../../reconciliation/breaks/break-actions.service.js';
import { BreakComments } from '../../reconciliation/breaks/break-comments.service.js';
import { factsChanged, isConfirmed } from '../kit/confirm-money.js';
import { ConsoleAction, ConsolePage, Visiting } from '../serving/console-page.decorator.js';
import { Redirect, type PageAnswer } from '../page.js';
import { callerOf, pathId, typed, type Visit } from '../visit.js';
import { BreakConfirmation } from './break-confirmation.service.js';
import { BreakPage, isInQueue, redirectTo } from './break-page.service.js';
import { BreakQueue } from './break-queue.service.js';
import { refusalOf } from './break-words.js';
import { readAction, readComment, readReasonText, type ReadAction } from './action-forms.js';
import { readBreakList } from './break-list.js';
import type { PageAction } from './open-actions.js';

const needs = 'resolve breaks';
const subject = 'break :id';

@Controller()
export class BreakDetailPages {
  constructor(
    private readonly page: BreakPage,
    private readonly queue: BreakQueue,
    private readonly actions: BreakActions,
    private readonly comments: BreakComments,
    private readonly confirmation: BreakConfirmation,
  ) {}

  @ConsolePage('breaks/:id', 'view')
  show(@Visiting() visit: Visit): Promise<PageAnswer> {
    return this.page.show(visit, pathId(visit));
  }

  @ConsoleAction('breaks/:id/link', needs, 'link break', subject)
  link(@Visiting() visit: Visit): Promise<PageAnswer> {
    return this.act(visit, 'link');
  }

  @ConsoleAction('breaks/:id/accept', needs, 'accept break', subject)
  accept(@Visiting() visit: Visit): Promise<PageAnswer> {
    return this.act(visit, 'accept');
  }

  @ConsoleAction('breaks/:id/refund', 'request payments', 'refund break', subject)
  refund(@Visiting() visit: Visit): Promise<PageAnswer> {
    return this.act(visit, 'refund');
  }

  @ConsoleAction('breaks/:id/resend', needs, 'resend break', subject)
  resend(@Visiting() visit: Visit): Promise<PageAnswer> {
    return this.act(visit, 'resend');
  }

  /** Whom a refund pays, before it is requested. */
  @ConsoleAction('breaks/:id/refund/confirm', 'request payments', 'own')
  confirmRefund(@Visiting() visit: Visit): Promise<PageAnswer> {
    return this.confirm(visit, 'refund');
  }

  @ConsoleAction('breaks/:id/resend/confirm', needs, 'own')
  confirmResend(@Visiting() visit: Visit): Promise<PageAnswer> {
    return this.confirm(visit, 'resend');
  }

  @ConsoleAction('breaks/:id/reopen', needs, 'reopen break', subject)
  reopen(@Visiting() visit: Visit): Promise<PageAnswer> {
    return this.act(visit, 'reopen');
  }

  @ConsoleAction('breaks/:id/note', needs, 'note break', subject)
  note(@Visiting() visit: Visit): Promise<PageAnswer> {
    return this.act(visit, 'note');
  }

  @ConsoleAction('breaks/:id/comment', needs, 'comment on break', subject)
  async comment(@Visiting() visit: Visit): Promise<PageAnswer> {
    const id = pathId(visit);
    const text = readComment(visit);
    if (text === null) return this.refuse(visit, id, 400, visit.t('breaks.invalid.comment'));
    await this.comments.add(callerOf(visit), id, text);
    return this.stay(visit, id, 'comment');
  }

  private async confirm(visit: Visit, action: 'refund' | 'resend'): Promise<PageAnswer> {
    const id = pathId(visit);
    const read = readForm(visit, action);
    if ('problem' in read) return this.refuse(visit, id, 400, visit.t(read.problem));
    const money = await this.confirmation.readMoney(visit, id, read.action);
    const none = { payees: [], totalCents: 0n };
    return this.confirmation.show(visit, id, { action, money: money ?? none }, null);
  }

  /** Shows what a search finds among the candidates. */
  @ConsoleAction('breaks/:id/find', needs, 'own')
  find(@Visiting() visit: Visit): Promise<PageAnswer> {
    return this.refuse(visit, pathId(visit), 200, null);
  }

  private async act(visit: Visit, action: PageAction): Promise<PageAnswer> {
    const id = pathId(visit);
    const read = readForm(visit, action);
    if ('problem' in read) return this.refuse(visit, id, 400, visit.t(read.problem));
    try {
      const money = await this.confirmation.readMoney(visit, id, read.action);
      if (money !== null && isMoving(action) && !isConfirmed(visit, money))
        return await this.confirmation.show(visit, id, { action, money }, factsChanged());
      const seen = typed(visit, 'shown') || null;
      await this.actions.act(callerOf(visit), id, read.action, () => Promise.resolve(true), seen);
    } catch (error) {
      // A refusal concerns this break or the bank and is shown; a bug is thrown.
      if (!(error instanceof AppError) || error.status >= 500) throw error;
      return this.refuse(visit, id, error.status, refusalOf(visit.t, error));
    }
    return this.page.goOn(visit, id, action);
  }

  /** The page on which the form stood, with what was wrong. */
  private refuse(
    visit: Visit,
    id: string,
    status: number,
    problem: string | null,
  ): Promise<PageAnswer> {
    const at = isInQueue(visit) ? this.queue : this.page;
    return at.refuse(visit, id, status, problem);
  }

  private stay(visit: Visit, id: string, action: PageAction | 'comment'): Redirect {
    const { place } = readBreakList(visit.query);
    place.set('did', action);
    return redirectTo(visit, id, place);
  }
}

/** An action that is confirmed where it moves money, or leaves a rest. */
function isMoving(action: PageAction): action is 'refund' | 'resend' | 'link' {
  return action === 'refund' || action === 'resend' || action === 'link';
}

function readForm(visit: Visit, action: PageAction): ReadAction {
  const reason = readReasonText(visit);
  if (reason === null) return { problem: 'breaks.invalid.reason' };
  return readAction(visit, action, reason);
}
