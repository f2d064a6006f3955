import { type ArchiveRow, type ArchiveTable, dayOf, eventRow, type LoggedEvent } from "@runplane/domain"
import { openTableFile, type TableFile } from "./TableFile.ts"

/** A file in memory, as it will be visible. */
export interface EncodedFile {
  /** UTC day: its partition. */
  readonly day: string
  readonly rows: number
  readonly bytes: Uint8Array
}

/** The files of one range in the making: one a day. */
export interface DayFiles<Table extends ArchiveTable> {
  /** Adds a row of `bytes` bytes. True when a group was encoded: the caller lets others run. */
  readonly add: (day: string, row: ArchiveRow<Table>, bytes: number) => boolean
  readonly finish: () => ReadonlyArray<EncodedFile>
}

export const openDayFiles = <Table extends ArchiveTable>(table: Table): DayFiles<Table> => {
  const files = new Map<string, TableFile<Table>>()
  return {
    add: (day, row, bytes) => {
      let file = files.get(day)
      if (file === undefined) {
        file = openTableFile(table)
        files.set(day, file)
      }
      return file.add(row, bytes)
    },
    finish: () => [...files].map(([day, file]) => ({ day, rows: file.rows(), bytes: file.finish() }))
  }
}

/** An event with the size of its text in bytes. */
export interface SizedEvent extends LoggedEvent {
  readonly bytes: number
}

/** Adds events to the files of their days; true as `add` says. */
export const addEvents = (files: DayFiles<"events">, cell: string, events: ReadonlyArray<SizedEvent>): boolean => {
  let isLong = false
  for (const event of events) isLong = files.add(dayOf(event.ts), eventRow(cell, event), event.bytes) || isLong
  return isLong
}
