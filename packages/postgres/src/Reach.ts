import { constants, lstatSync, mkdirSync, type Stats, statSync } from "node:fs"
import { dirname } from "node:path"
import type { ServerUser } from "./ServerUser.ts"

/** Whether the user may enter every folder on the way to the path; folders that do not exist yet count as open. */
export const mayReach = (path: string, user: ServerUser): boolean => {
  const folder = dirname(path)
  const stats = statSync(folder, { throwIfNoEntry: false })
  if (stats !== undefined && !allows(stats, user, EXECUTE)) return false
  return folder === path || mayReach(folder, user)
}

/** Whether the user may reach the program, read it and start it. */
export const mayRun = (program: string, user: ServerUser): boolean => {
  const stats = statSync(program, { throwIfNoEntry: false })
  return stats !== undefined && allows(stats, user, READ) && allows(stats, user, EXECUTE) && mayReach(program, user)
}

/** Whether the user may reach the folder and list it. */
export const mayList = (folder: string, user: ServerUser): boolean => {
  const stats = statSync(folder, { throwIfNoEntry: false })
  return stats !== undefined && allows(stats, user, READ) && allows(stats, user, EXECUTE) && mayReach(folder, user)
}

/**
 * Makes a folder that root keeps for others to pass through, or takes the one that is there. False when it cannot be
 * made, or when another user could change its files.
 */
export const isKeptByRoot = (folder: string): boolean => {
  try {
    mkdirSync(folder, { recursive: true, mode: 0o755 })
  } catch {
    return false
  }
  // Not followed: in a folder that all users may write, a link could lead root anywhere.
  const stats = lstatSync(folder)
  return stats.isDirectory() && stats.uid === 0 && (stats.mode & WRITABLE_BY_OTHERS) === 0
}

const WRITABLE_BY_OTHERS = constants.S_IWGRP | constants.S_IWOTH

interface Permission {
  readonly owner: number
  readonly group: number
  readonly others: number
}

const READ: Permission = { owner: constants.S_IRUSR, group: constants.S_IRGRP, others: constants.S_IROTH }
const EXECUTE: Permission = { owner: constants.S_IXUSR, group: constants.S_IXGRP, others: constants.S_IXOTH }

const allows = (stats: Stats, { gid, uid }: ServerUser, permission: Permission): boolean => {
  if (stats.uid === uid) return (stats.mode & permission.owner) !== 0
  return (stats.mode & (stats.gid === gid ? permission.group : permission.others)) !== 0
}
