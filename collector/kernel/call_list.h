/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * call_list.h - the system calls in which threads wait for something that their arguments say.
 * calls.c and calls_32.c include it, each with the numbers (__NR_*) of one instruction set.
 */
/* clang-format off */
#ifdef __NR_read
[__NR_read] = WIRE_CALL(FD, 0),
#endif
#ifdef __NR_write
[__NR_write] = WIRE_CALL(FD, 0),
#endif
#ifdef __NR_readv
[__NR_readv] = WIRE_CALL(FD, 0),
#endif
#ifdef __NR_writev
[__NR_writev] = WIRE_CALL(FD, 0),
#endif
#ifdef __NR_pread64
[__NR_pread64] = WIRE_CALL(FD, 0),
#endif
#ifdef __NR_pwrite64
[__NR_pwrite64] = WIRE_CALL(FD, 0),
#endif
#ifdef __NR_preadv
[__NR_preadv] = WIRE_CALL(FD, 0),
#endif
#ifdef __NR_pwritev
[__NR_pwritev] = WIRE_CALL(FD, 0),
#endif
#ifdef __NR_preadv2
[__NR_preadv2] = WIRE_CALL(FD, 0),
#endif
#ifdef __NR_pwritev2
[__NR_pwritev2] = WIRE_CALL(FD, 0),
#endif
#ifdef __NR_recv
[__NR_recv] = WIRE_CALL(FD, 0),
#endif
#ifdef __NR_recvfrom
[__NR_recvfrom] = WIRE_CALL(FD, 0),
#endif
#ifdef __NR_recvmsg
[__NR_recvmsg] = WIRE_CALL(FD, 0),
#endif
#ifdef __NR_recvmmsg
[__NR_recvmmsg] = WIRE_CALL(FD, 0),
#endif
#ifdef __NR_recvmmsg_time64
[__NR_recvmmsg_time64] = WIRE_CALL(FD, 0),
#endif
#ifdef __NR_send
[__NR_send] = WIRE_CALL(FD, 0),
#endif
#ifdef __NR_sendto
[__NR_sendto] = WIRE_CALL(FD, 0),
#endif
#ifdef __NR_sendmsg
[__NR_sendmsg] = WIRE_CALL(FD, 0),
#endif
#ifdef __NR_sendmmsg
[__NR_sendmmsg] = WIRE_CALL(FD, 0),
#endif
#ifdef __NR_accept
[__NR_accept] = WIRE_CALL(FD, 0),
#endif
#ifdef __NR_accept4
[__NR_accept4] = WIRE_CALL(FD, 0),
#endif
#ifdef __NR_connect
[__NR_connect] = WIRE_CALL(FD, 0),
#endif
#ifdef __NR_fsync
[__NR_fsync] = WIRE_CALL(FD, 0),
#endif
#ifdef __NR_fdatasync
[__NR_fdatasync] = WIRE_CALL(FD, 0),
#endif
#ifdef __NR_syncfs
[__NR_syncfs] = WIRE_CALL(FD, 0),
#endif
#ifdef __NR_sync_file_range
[__NR_sync_file_range] = WIRE_CALL(FD, 0),
#endif
#ifdef __NR_sync_file_range2
[__NR_sync_file_range2] = WIRE_CALL(FD, 0),
#endif
#ifdef __NR_ftruncate
[__NR_ftruncate] = WIRE_CALL(FD, 0),
#endif
#ifdef __NR_ftruncate64
[__NR_ftruncate64] = WIRE_CALL(FD, 0),
#endif
#ifdef __NR_fallocate
[__NR_fallocate] = WIRE_CALL(FD, 0),
#endif
#ifdef __NR_flock
[__NR_flock] = WIRE_CALL(FD, 0),
#endif
#ifdef __NR_fcntl
[__NR_fcntl] = WIRE_CALL(FD, 0),
#endif
#ifdef __NR_fcntl64
[__NR_fcntl64] = WIRE_CALL(FD, 0),
#endif
#ifdef __NR_ioctl
[__NR_ioctl] = WIRE_CALL(FD, 0),
#endif
#ifdef __NR_getdents
[__NR_getdents] = WIRE_CALL(FD, 0),
#endif
#ifdef __NR_getdents64
[__NR_getdents64] = WIRE_CALL(FD, 0),
#endif
#ifdef __NR_lseek
[__NR_lseek] = WIRE_CALL(FD, 0),
#endif
#ifdef __NR_splice
[__NR_splice] = WIRE_CALL(FD, 0),
#endif
#ifdef __NR_tee
[__NR_tee] = WIRE_CALL(FD, 0),
#endif
#ifdef __NR_vmsplice
[__NR_vmsplice] = WIRE_CALL(FD, 0),
#endif
#ifdef __NR_copy_file_range
[__NR_copy_file_range] = WIRE_CALL(FD, 0),
#endif
#ifdef __NR_sendfile
[__NR_sendfile] = WIRE_CALL(FD, 0),
#endif
#ifdef __NR_sendfile64
[__NR_sendfile64] = WIRE_CALL(FD, 0),
#endif
#ifdef __NR_epoll_wait
[__NR_epoll_wait] = WIRE_CALL(EPOLL, 0),
#endif
#ifdef __NR_epoll_pwait
[__NR_epoll_pwait] = WIRE_CALL(EPOLL, 0),
#endif
#ifdef __NR_epoll_pwait2
[__NR_epoll_pwait2] = WIRE_CALL(EPOLL, 0),
#endif
#ifdef __NR_mq_timedsend
[__NR_mq_timedsend] = WIRE_CALL(FD, 0),
#endif
#ifdef __NR_mq_timedsend_time64
[__NR_mq_timedsend_time64] = WIRE_CALL(FD, 0),
#endif
#ifdef __NR_mq_timedreceive
[__NR_mq_timedreceive] = WIRE_CALL(FD, 0),
#endif
#ifdef __NR_mq_timedreceive_time64
[__NR_mq_timedreceive_time64] = WIRE_CALL(FD, 0),
#endif
#ifdef __NR_socketcall
[__NR_socketcall] = WIRE_CALL(SOCKETCALL, 1),
#endif
#ifdef __NR_poll
[__NR_poll] = WIRE_CALL(POLL, 0),
#endif
#ifdef __NR_ppoll
[__NR_ppoll] = WIRE_CALL(POLL, 0),
#endif
#ifdef __NR_ppoll_time64
[__NR_ppoll_time64] = WIRE_CALL(POLL, 0),
#endif
#ifdef __NR_select
[__NR_select] = WIRE_CALL(SELECT, 0),
#endif
#ifdef __NR__newselect
[__NR__newselect] = WIRE_CALL(SELECT, 0),
#endif
#ifdef __NR_pselect6
[__NR_pselect6] = WIRE_CALL(SELECT, 0),
#endif
#ifdef __NR_pselect6_time64
[__NR_pselect6_time64] = WIRE_CALL(SELECT, 0),
#endif
#ifdef __NR_futex
[__NR_futex] = WIRE_CALL(FUTEX, 0),
#endif
#ifdef __NR_futex_time64
[__NR_futex_time64] = WIRE_CALL(FUTEX, 0),
#endif
#ifdef __NR_futex_wait
[__NR_futex_wait] = WIRE_CALL(FUTEX2, 0),
#endif
#ifdef __NR_futex_waitv
[__NR_futex_waitv] = WIRE_CALL(FUTEXES, 0),
#endif
#ifdef __NR_wait4
[__NR_wait4] = WIRE_CALL(CHILD, 0),
#endif
#ifdef __NR_waitpid
[__NR_waitpid] = WIRE_CALL(CHILD, 0),
#endif
#ifdef __NR_waitid
[__NR_waitid] = WIRE_CALL(CHILD, 1),
#endif
#ifdef __NR_vfork
[__NR_vfork] = WIRE_CALL(VFORK, 0),
#endif
#ifdef __NR_clone
[__NR_clone] = WIRE_CALL(VFORK, 0),
#endif
#ifdef __NR_clone3
[__NR_clone3] = WIRE_CALL(VFORK, 0),
#endif
#ifdef __NR_clock_nanosleep_time64
[__NR_clock_nanosleep_time64] = WIRE_CALL(SLEEP_UNTIL, 0),
#endif
#ifdef __NR_pause
[__NR_pause] = WIRE_CALL(SIGNAL, 0),
#endif
#ifdef __NR_sigsuspend
[__NR_sigsuspend] = WIRE_CALL(SIGNAL, 0),
#endif
#ifdef __NR_rt_sigsuspend
[__NR_rt_sigsuspend] = WIRE_CALL(SIGNAL, 0),
#endif
#ifdef __NR_rt_sigtimedwait
[__NR_rt_sigtimedwait] = WIRE_CALL(SIGNAL, 0),
#endif
#ifdef __NR_rt_sigtimedwait_time64
[__NR_rt_sigtimedwait_time64] = WIRE_CALL(SIGNAL, 0),
#endif
#ifdef __NR_io_uring_enter
[__NR_io_uring_enter] = WIRE_CALL(RING, 0),
#endif
#ifdef __NR_io_getevents
[__NR_io_getevents] = WIRE_CALL(AIO, 0),
#endif
#ifdef __NR_io_pgetevents
[__NR_io_pgetevents] = WIRE_CALL(AIO, 0),
#endif
#ifdef __NR_io_pgetevents_time64
[__NR_io_pgetevents_time64] = WIRE_CALL(AIO, 0),
#endif
#ifdef __NR_semop
[__NR_semop] = WIRE_CALL(IPC, 0),
#endif
#ifdef __NR_semtimedop
[__NR_semtimedop] = WIRE_CALL(IPC, 0),
#endif
#ifdef __NR_semtimedop_time64
[__NR_semtimedop_time64] = WIRE_CALL(IPC, 0),
#endif
#ifdef __NR_msgsnd
[__NR_msgsnd] = WIRE_CALL(IPC, 0),
#endif
#ifdef __NR_msgrcv
[__NR_msgrcv] = WIRE_CALL(IPC, 0),
#endif
	/* clang-format on */
