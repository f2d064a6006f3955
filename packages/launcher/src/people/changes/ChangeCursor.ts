/**
 * A snapshot of the database as PostgreSQL writes it: `xmin:xmax:xip,xip`. A client with this cursor has the changes of
 * the transactions that the snapshot shows as ended; all others are after it, whatever the order of their commits.
 */
const SNAPSHOT = /^(\d{1,20}):(\d{1,20}):((?:\d{1,20}(?:,\d{1,20})*)?)$/

/** Characters of a cursor: the transactions in progress are as many as the connections of the database. */
const MAX_CURSOR = 8_000

const MAX_ID = 2n ** 64n - 1n

/** Whether PostgreSQL reads the text as a snapshot. */
export const isChangeCursor = (text: string): boolean => {
  const [, xmin, xmax, xip = ""] = text.length > MAX_CURSOR ? [] : (SNAPSHOT.exec(text) ?? [])
  if (xmin === undefined || xmax === undefined) return false
  const [least, most] = [BigInt(xmin), BigInt(xmax)]
  if (least < 1n || most < least || most > MAX_ID) return false
  let last = least
  for (const id of xip === "" ? [] : xip.split(",")) {
    const value = BigInt(id)
    if (value < last || value >= most) return false
    last = value
  }
  return true
}

/** Whether a cursor has transactions that the database has not begun: it is of another database, or of a lost state. */
export const isAhead = (cursor: string, now: string): boolean =>
  BigInt(cursor.split(":")[1] ?? "") > BigInt(now.split(":")[1] ?? "")
