// SPDX-License-Identifier: MIT-0 OR Unlicense
/*
 * control.c - /sys/kernel/debug/prof
 *
 *	echo start buffer=16M mode=fill >control
 *	cat image >now.prof			while it records, or after it
 *	echo stop >control
 *	cat control				running, or stopped
 *
 * Words after start: buffer=SIZE (default 16M), mode=ring|fill, level=1..255, categories=NAMES, as in prof_config.
 */
#include "prof_linux_kernel.h"

#include <linux/debugfs.h>
#include <linux/fs.h>
#include <linux/kernel.h>
#include <linux/mm.h>
#include <linux/module.h>
#include <linux/mutex.h>
#include <linux/sched.h>
#include <linux/slab.h>
#include <linux/string.h>
#include <linux/uaccess.h>

static struct dentry *prof_control_folder;

static int prof_control_word(prof_config *config, char *word)
{
	char *value = strchr(word, '='), *rest;

	if (!value)
		return -EINVAL;
	*value++ = 0;
	if (!strcmp(word, "buffer")) {
		config->memory_size = memparse(value, &rest);
		return *rest ? -EINVAL : 0;
	}
	if (!strcmp(word, "level"))
		return kstrtoint(value, 10, &config->level);
	if (!strcmp(word, "categories"))
		config->categories = value;
	else if (!strcmp(word, "mode") && !strcmp(value, "fill"))
		config->mode = PROF_FILL;
	else if (strcmp(word, "mode") || strcmp(value, "ring"))
		return -EINVAL;
	return 0;
}

static int prof_control_start(char *words)
{
	prof_config config = { .memory_size = 16 << 20 };
	int error = 0;
	char *word;

	while (!error && (word = strsep(&words, " \t\n")))
		if (*word)
			error = prof_control_word(&config, word);
	if (!error && (config.memory_size < (64 << 10) || config.memory_size >> 30))
		error = -EINVAL;
	return error ? error : prof_linux_start(&config);
}

static int prof_control_do(char *line)
{
	char *word = strsep(&line, " \t\n");

	if (!strcmp(word, "start"))
		return prof_control_start(line);
	if (!strcmp(word, "stop"))
		return prof_linux_stop();
	return -EINVAL;
}

static ssize_t prof_control_write(struct file *file, const char __user *from, size_t size, loff_t *at)
{
	char *line;
	int error;

	if (size > 255)
		return -EINVAL;
	line = memdup_user_nul(from, size);
	if (IS_ERR(line))
		return PTR_ERR(line);
	error = prof_control_do(strim(line));
	kfree(line);
	return error ? error : size;
}

static ssize_t prof_control_read(struct file *file, char __user *to, size_t size, loff_t *at)
{
	const char *text = prof_linux_running() ? "running\n" : "stopped\n";

	return simple_read_from_buffer(to, size, at, text, strlen(text));
}

static const struct file_operations prof_control_operations = {
	.owner = THIS_MODULE,
	.read = prof_control_read,
	.write = prof_control_write,
	.llseek = default_llseek,
};

/* The image as it is when the file is opened. */
struct prof_control_image {
	struct mutex mutex;
	struct prof_linux_view *view;
};

static int prof_control_image_open(struct inode *inode, struct file *file)
{
	PROFILE_FUNCTION();
	struct prof_control_image *image = kmalloc(sizeof(*image), GFP_KERNEL);
	int error;

	if (!image)
		return -ENOMEM;
	mutex_init(&image->mutex);
	image->view = prof_linux_view_open();
	if (!IS_ERR(image->view)) {
		file->private_data = image;
		return 0;
	}
	error = PTR_ERR(image->view);
	kfree(image);
	return error;
}

static ssize_t prof_control_image_read(struct file *file, char __user *to, size_t size, loff_t *at)
{
	struct prof_control_image *image = file->private_data;
	size_t done = 0, piece = 1;

	if (*at < 0)
		return -EINVAL;
	mutex_lock(&image->mutex);
	while (done < size && piece) {
		const char *from;

		piece = min(prof_linux_view_piece(image->view, *at, &from), size - done);
		if (copy_to_user(to + done, from, piece))
			break;
		done += piece;
		*at += piece;
		cond_resched();
	}
	mutex_unlock(&image->mutex);
	return done || !piece || !size ? done : -EFAULT;
}

static int prof_control_image_release(struct inode *inode, struct file *file)
{
	struct prof_control_image *image = file->private_data;

	prof_linux_view_close(image->view);
	kfree(image);
	return 0;
}

static const struct file_operations prof_control_image_operations = {
	.owner = THIS_MODULE,
	.open = prof_control_image_open,
	.read = prof_control_image_read,
	.release = prof_control_image_release,
	.llseek = default_llseek,
};

int prof_control_init(void)
{
	prof_control_folder = debugfs_create_dir("prof", NULL);
	if (IS_ERR(prof_control_folder))
		return PTR_ERR(prof_control_folder);
	debugfs_create_file("control", 0600, prof_control_folder, NULL, &prof_control_operations);
	debugfs_create_file("image", 0400, prof_control_folder, NULL, &prof_control_image_operations);
	return 0;
}

void prof_control_exit(void)
{
	debugfs_remove_recursive(prof_control_folder);
}
