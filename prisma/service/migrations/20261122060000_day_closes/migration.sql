-- AlterTable
ALTER TABLE "day_close_state" ADD COLUMN     "amend_from" TEXT,
ADD COLUMN     "seen_arrival" BIGINT NOT NULL DEFAULT 0;
