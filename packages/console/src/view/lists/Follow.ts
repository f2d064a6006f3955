/** A scrolled element, CSS pixels. */
export interface Scrolled {
  readonly top: number
  readonly viewHeight: number
  readonly height: number
}

/** Distance from the end that counts as the end. */
const NEAR = 40

/** Whether a list follows its newest row after it was scrolled: at the end it does, and a scroll back stops it. */
export const followsAfter = (followed: boolean, topBefore: number, { height, top, viewHeight }: Scrolled): boolean =>
  height - top - viewHeight <= NEAR || (followed && top >= topBefore)
